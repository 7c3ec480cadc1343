namespace Allocator.Diagnostics;

/// <summary>All leaks from one place: allocations dropped without <c>Dispose</c>, by the stack of the allocating call.</summary>
public sealed class LeakReport
{
    internal LeakReport(string? allocationStackTrace, long count, long bytes, TimeSpan longestAge) =>
        (AllocationStackTrace, Count, Bytes, LongestAge) = (allocationStackTrace, count, bytes, longestAge);

    /// <summary>Gets the stack of the allocating call; <see langword="null"/> for all allocations whose stack was not kept.</summary>
    public string? AllocationStackTrace { get; }

    /// <summary>Gets how many allocations leaked from there.</summary>
    public long Count { get; }

    /// <summary>Gets their capacity in bytes, together.</summary>
    public long Bytes { get; }

    /// <summary>Gets the longest time between an allocation and its discovery.</summary>
    public TimeSpan LongestAge { get; }

    /// <summary>Describes the leak in full, its stack included.</summary>
    public override string ToString() =>
        Invariant($"{Bytes:N0} bytes in {Count} allocation{(Count == 1 ? "" : "s")} never disposed, ")
            + Invariant($"found up to {LongestAge.TotalSeconds:0.0} s after they were made, at:\n")
            + (AllocationStackTrace ?? "   (a stack that was not kept)");

    internal LeakReport With(AbandonedMemoryEventArgs leak) =>
        new(AllocationStackTrace, Count + 1, Bytes + leak.Bytes, leak.Age > LongestAge ? leak.Age : LongestAge);
}

/// <summary>Adds up leaks by stack, so that a loop that leaks a thousand times gives one report. Thread-safe.</summary>
internal sealed class LeakLedger
{
    // Stacks are kilobytes of text. If a program leaks at more places than this, the first ones are enough.
    private const int MaximumStacks = 1000;

    private readonly Dictionary<string, LeakReport> _byStack = [];
    private LeakReport _withoutStack = new(null, 0, 0, TimeSpan.Zero);

    /// <summary>Adds a leak, and returns all leaks from its place.</summary>
    public LeakReport Add(AbandonedMemoryEventArgs leak)
    {
        lock (_byStack)
        {
            if (leak.AllocationStackTrace is not string stack || (!_byStack.ContainsKey(stack) && _byStack.Count == MaximumStacks))
            {
                return _withoutStack = _withoutStack.With(leak);
            }

            LeakReport before = _byStack.TryGetValue(stack, out LeakReport? known) ? known : new(stack, 0, 0, TimeSpan.Zero);
            return _byStack[stack] = before.With(leak);
        }
    }

    /// <summary>Lists the places, those with the most bytes first.</summary>
    public IReadOnlyList<LeakReport> List()
    {
        lock (_byStack)
        {
            IEnumerable<LeakReport> all = _withoutStack.Count == 0 ? _byStack.Values : _byStack.Values.Append(_withoutStack);
            return [.. all.OrderByDescending(report => report.Bytes)];
        }
    }
}

/// <summary>Describes one allocation that was dropped without <c>Dispose</c>.</summary>
public sealed class AbandonedMemoryEventArgs : EventArgs
{
    internal AbandonedMemoryEventArgs(long bytes, TimeSpan age, string? allocationStackTrace) =>
        (Bytes, Age, AllocationStackTrace) = (bytes, age, allocationStackTrace);

    internal string? AllocatorName { get; init; }

    /// <summary>Gets the capacity that was outstanding, in bytes.</summary>
    public long Bytes { get; }

    /// <summary>Gets the time from the allocation to its discovery. If no stack was kept, it may be off by one trim period.</summary>
    public TimeSpan Age { get; }

    /// <summary>
    /// Gets the stack of the allocating call; <see langword="null"/> if <see cref="MemoryDiagnostics.LeakDetection"/> kept none at that
    /// time, unless the memory was watched: see <see cref="SafetyMode"/>.
    /// </summary>
    public string? AllocationStackTrace { get; }

    /// <summary>Gets all leaks found so far at the same place, this one included.</summary>
    public LeakReport Place { get; internal set; } = null!;

    /// <summary>Gets whether this is the 1st, 2nd, 4th, 8th … leak from its place. Log only these to keep the log short.</summary>
    public bool IsFirstOrDoubled => (Place.Count & (Place.Count - 1)) == 0;

    /// <summary>Describes the leak in full, its stack included.</summary>
    public override string ToString() =>
        Invariant($"{Bytes:N0} bytes were dropped without Dispose, {Age.TotalSeconds:0.0} s after their allocation, at:\n")
            + (AllocationStackTrace ?? "   (a stack that was not kept)");
}
