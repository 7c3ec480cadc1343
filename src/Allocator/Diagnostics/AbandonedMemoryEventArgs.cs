namespace Allocator.Diagnostics;

/// <summary>Describes one allocation that was dropped without <c>Dispose</c>.</summary>
[DebuggerDisplay("{ToString(),nq}")]
public sealed class AbandonedMemoryEventArgs : EventArgs
{
    internal AbandonedMemoryEventArgs(long bytes, TimeSpan age, string? allocationStackTrace)
    {
        Bytes = bytes;
        Age = age;
        AllocationStackTrace = allocationStackTrace;
    }

    internal string? AllocatorName { get; init; }

    /// <summary>Gets the capacity that was outstanding, in bytes.</summary>
    public long Bytes { get; }

    /// <summary>Gets the time from the allocation to its discovery. It may be off by one trim period where no stack was kept.</summary>
    public TimeSpan Age { get; }

    /// <summary>
    /// Gets the stack of the allocating call; <see langword="null"/> where <see cref="MemoryDiagnostics.LeakDetection"/> had none kept at
    /// that time, unless the memory was watched: see <see cref="SafetyMode"/>.
    /// </summary>
    public string? AllocationStackTrace { get; }

    /// <summary>Describes the leak in full, its stack included.</summary>
    public override string ToString() =>
        Invariant($"{Bytes:N0} bytes were dropped without Dispose, {Age.TotalSeconds:0.0} s after their allocation, at:\n")
            + (AllocationStackTrace ?? "   (a stack that was not kept)");
}
