using System;

namespace Decisions.Trimming;

/// <summary>What the collector did.</summary>
/// <param name="All">Collections of any generation.</param>
/// <param name="Gen2">Those of generation 2.</param>
/// <param name="PauseMilliseconds">How long all threads stood still for them.</param>
/// <param name="Induced">Those of any generation that somebody asked for; filled in at the end.</param>
internal readonly record struct CollectionCounts(int All, int Gen2, double PauseMilliseconds, int Induced = 0)
{
    /// <summary>Reads this process's counters.</summary>
    public static CollectionCounts Read() => new(GC.CollectionCount(0), GC.CollectionCount(2), GC.GetTotalPauseDuration().TotalMilliseconds);

    /// <summary>Returns what happened since an earlier reading.</summary>
    public CollectionCounts Since(CollectionCounts earlier) => new(All - earlier.All, Gen2 - earlier.Gen2, PauseMilliseconds - earlier.PauseMilliseconds);
}
