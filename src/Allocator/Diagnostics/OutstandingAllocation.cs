namespace Allocator.Diagnostics;

/// <summary>An allocation that has not been returned.</summary>
[DebuggerDisplay("{ToString(),nq}")]
public sealed class OutstandingAllocation
{
    private readonly AllocationTrace _trace;

    internal OutstandingAllocation(AllocationTrace trace)
    {
        _trace = trace;
        Age = trace.Age;
    }

    /// <summary>Gets its capacity, in bytes: whole blocks for what the pool serves.</summary>
    public long Bytes => _trace.Bytes;

    /// <summary>Gets the time from the allocation to the moment when it was listed.</summary>
    public TimeSpan Age { get; }

    /// <summary>Gets the name of the allocator, from <see cref="MemoryAllocatorOptions.Name"/>.</summary>
    public string? AllocatorName => _trace.AllocatorName;

    /// <summary>Gets the stack of the allocating call, from the caller of the library on.</summary>
    public string AllocationStackTrace => _trace.StackTrace ?? "";

    /// <summary>Describes the allocation in full, its stack included.</summary>
    public override string ToString() => _trace.ToString();
}

/// <summary>Says that allocations of a scope have not been returned, and names them with their stacks.</summary>
public sealed class OutstandingAllocationsException : InvalidOperationException
{
    // A test that leaks in a loop would otherwise fill the screen with one stack.
    private const int Named = 10;

    internal OutstandingAllocationsException(IReadOnlyList<OutstandingAllocation> allocations)
        : base(Describe(allocations)) => Allocations = allocations;

    /// <summary>Gets what has not been returned, the oldest first.</summary>
    public IReadOnlyList<OutstandingAllocation> Allocations { get; }

    private static string Describe(IReadOnlyList<OutstandingAllocation> allocations)
    {
        string count = allocations.Count == 1 ? "1 allocation was" : Invariant($"{allocations.Count} allocations were");
        string named = string.Concat(allocations.Take(Named).Select(static (allocation, i) => Invariant($"\n{i + 1}. {allocation}")));
        string rest = allocations.Count > Named ? Invariant($"\n... and {allocations.Count - Named} more.") : "";
        return $"{count} not given back within this scope:{named}{rest}";
    }
}
