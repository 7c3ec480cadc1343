using System;
using System.Collections.Generic;
using System.Linq;
using static System.FormattableString;

namespace Allocator.Diagnostics;

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
