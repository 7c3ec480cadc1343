namespace Allocator.Diagnostics;

/// <summary>The figures of an allocator, in the order of the instruments. Those from <see cref="Rents"/> on only grow.</summary>
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

    /// <summary>The first of as many as there are reasons; so are <see cref="Trims"/>.</summary>
    TrimmedBytes,
    Trims = TrimmedBytes + AllocatorCounters.TrimReasons,
    Count = Trims + AllocatorCounters.TrimReasons,
}
