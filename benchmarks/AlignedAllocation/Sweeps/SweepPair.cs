namespace AlignedAllocation.Sweeps;

/// <summary>Two runs of the same sweeps, each in a process of its own: their difference is the noise that all other differences are to be held against.</summary>
/// <param name="First">The first run.</param>
/// <param name="Second">The second run.</param>
internal sealed record SweepPair(SweepReport First, SweepReport Second);
