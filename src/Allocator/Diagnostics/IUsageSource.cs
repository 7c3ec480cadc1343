namespace Allocator.Diagnostics;

/// <summary>What the metrics read of one allocator.</summary>
internal interface IUsageSource
{
    AllocatorCounters Counters { get; }

    /// <summary>Gets the memory budget, in bytes; null without one.</summary>
    long? BudgetLimitBytes { get; }

    /// <summary>Gets whether any memory is out, idle or quarantined whose figures still change.</summary>
    bool HasMemory { get; }

    MemoryAllocatorStatistics Read();
}
