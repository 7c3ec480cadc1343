namespace Fragmentation.Bursts;

/// <summary>The resident set in one wave, in bytes above what it was before the first.</summary>
/// <param name="Full">With all blocks out.</param>
/// <param name="Returned">After most of them were returned.</param>
/// <param name="Released">After idle memory was released too.</param>
internal sealed record BurstWave(long Full, long Returned, long Released);
