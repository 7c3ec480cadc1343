namespace Allocator.Diagnostics;

/// <summary>The figures that the metrics tell of an allocator. Those from <see cref="Rents"/> on only grow.</summary>
internal enum UsageFigure
{
    RentedBytes,
    RetainedBytes,
    CommittedBytes,
    PeakCommittedBytes,
    QuarantinedBytes,
    Outstanding,
    BudgetUsedBytes,
    BudgetLimitBytes,
    Rents,
    PoolHits,
    PoolMisses,
    Abandoned,
    Retries,
    BudgetWaits,
    NativeHeapTrims,
    NativeHeapTrimmedBytes,
    NativeHeapTrimMilliseconds,

    /// <summary>The first of as many as there are reasons.</summary>
    TrimmedBytes,

    /// <summary>The first of as many as there are reasons.</summary>
    Trims = TrimmedBytes + AllocatorCounters.TrimReasons,

    /// <summary>The number of figures.</summary>
    Count = Trims + AllocatorCounters.TrimReasons,
}
