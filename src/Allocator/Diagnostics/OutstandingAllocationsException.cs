using System;
using System.Collections.Generic;
using System.Globalization;

namespace Allocator.Diagnostics;

/// <summary>Says that allocations of a scope have not been given back, and names them with their stacks.</summary>
public sealed class OutstandingAllocationsException : InvalidOperationException
{
    // A test that leaks in a loop would otherwise fill the screen with one stack.
    private const int Named = 10;

    internal OutstandingAllocationsException(IReadOnlyList<OutstandingAllocation> allocations)
        : base(Describe(allocations)) => Allocations = allocations;

    /// <summary>Gets what has not been given back, the oldest first.</summary>
    public IReadOnlyList<OutstandingAllocation> Allocations { get; }

    private static string Describe(IReadOnlyList<OutstandingAllocation> allocations)
    {
        string count = allocations.Count == 1 ? "1 allocation was" : FormattableString.Invariant($"{allocations.Count} allocations were");
        List<string> lines = [$"{count} not given back within this scope:"];
        for (int i = 0; i < allocations.Count && i < Named; i++)
        {
            lines.Add(string.Format(CultureInfo.InvariantCulture, "{0}. {1}", i + 1, allocations[i]));
        }

        if (allocations.Count > Named)
        {
            lines.Add(string.Format(CultureInfo.InvariantCulture, "... and {0} more.", allocations.Count - Named));
        }

        return string.Join("\n", lines);
    }
}
