namespace EstimateFactors.Trials;

/// <summary>What one operation on one picture took at most, in a process of its own.</summary>
/// <param name="PoolBytes">What the allocator had of the system at most, in whole blocks. Arrays of up to 1 MiB are not in it.</param>
/// <param name="ProcessBytes">
/// How far the resident memory of the process rose above where it was with the file in memory, all libraries loaded and all code
/// compiled. That includes the pool's.
/// </param>
internal readonly record struct TrialPeak(long PoolBytes, long ProcessBytes);
