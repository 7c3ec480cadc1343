using System;
using System.Diagnostics;

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
