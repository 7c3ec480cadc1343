using System;
using System.Diagnostics;
using static System.FormattableString;

namespace Allocator.Diagnostics;

/// <summary>All that leaked from one place: allocations dropped without <c>Dispose</c>, by the stack of the allocating call.</summary>
[DebuggerDisplay("{ToString(),nq}")]
public sealed class LeakReport : EventArgs
{
    internal LeakReport(string? allocationStackTrace, long count, long bytes, TimeSpan longestAge)
    {
        AllocationStackTrace = allocationStackTrace;
        Count = count;
        Bytes = bytes;
        LongestAge = longestAge;
    }

    /// <summary>Gets the stack of the allocating call; <see langword="null"/> for all allocations whose stack was not kept.</summary>
    public string? AllocationStackTrace { get; }

    /// <summary>Gets how many allocations leaked from there.</summary>
    public long Count { get; }

    /// <summary>Gets their capacity in bytes, together.</summary>
    public long Bytes { get; }

    /// <summary>Gets the longest time from an allocation to its discovery.</summary>
    public TimeSpan LongestAge { get; }

    /// <summary>Describes the leak in full, its stack included.</summary>
    public override string ToString() =>
        Invariant($"{Bytes:N0} bytes in {Count} allocation{(Count == 1 ? "" : "s")} never disposed, ")
            + Invariant($"found up to {LongestAge.TotalSeconds:0.0} s after they were made, at:\n")
            + (AllocationStackTrace ?? "   (a stack that was not kept)");

    internal LeakReport With(AbandonedMemoryEventArgs leak) =>
        new(AllocationStackTrace, Count + 1, Bytes + leak.Bytes, leak.Age > LongestAge ? leak.Age : LongestAge);
}
