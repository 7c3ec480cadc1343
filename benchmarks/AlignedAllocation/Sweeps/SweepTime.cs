namespace AlignedAllocation.Sweeps;

/// <summary>How long one way took for one type of pixels.</summary>
/// <param name="Type">The type's name.</param>
/// <param name="Way">The way's name.</param>
/// <param name="Touched">Whether every page was written to.</param>
/// <param name="Nanoseconds">The median over the samples, for one allocation and its release, over all sizes.</param>
/// <param name="Factor">The median over the samples of the over-allocating way's time divided by this one's: above 1 is faster.</param>
internal sealed record SweepTime(string Type, string Way, bool Touched, double Nanoseconds, double Factor);
