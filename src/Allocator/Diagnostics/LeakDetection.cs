namespace Allocator.Diagnostics;

/// <summary>How much is found out about memory above 1 MiB that was dropped without <c>Dispose</c>. It comes back in any case.</summary>
public enum LeakDetection
{
    /// <summary>Nothing is counted or reported.</summary>
    Off = 0,

    /// <summary>
    /// Leaks are counted and reported with size and age; with stacks while <see cref="MemoryDiagnostics.AllocationAbandoned"/> or
    /// <see cref="MemoryDiagnostics.LeakFound"/> has subscribers. Costs nothing without. The default.
    /// </summary>
    Counters = 1,

    /// <summary>One allocation in a hundred keeps its stack, at tens of microseconds each: for production.</summary>
    SampledStacks = 2,

    /// <summary>Every allocation keeps its stack.</summary>
    AllStacks = 3,
}
