using System;
using System.Globalization;

namespace Allocator.Diagnostics;

/// <summary>
/// Who asked for one allocation, and when. Made only while somebody wants to know. It does not reference the memory's guard: whoever lists traces
/// would otherwise keep memory alive that was dropped.
/// </summary>
internal sealed class AllocationTrace
{
    private readonly long _startedMilliseconds = Environment.TickCount64;
    private readonly AllocationScope? _scope;

    /// <summary>Traces an allocation that the calling thread begins now.</summary>
    /// <param name="bytes">Its capacity in bytes.</param>
    /// <param name="allocatorName">The name that the user gave the allocator.</param>
    /// <param name="scope">The scope that it belongs to, if any.</param>
    public AllocationTrace(long bytes, string? allocatorName, AllocationScope? scope)
    {
        Bytes = bytes;
        AllocatorName = allocatorName;
        StackTrace = CallerStack.Capture();
        _scope = scope;
        scope?.Add(this);
    }

    public long Bytes { get; }

    public string? AllocatorName { get; }

    public string StackTrace { get; }

    public TimeSpan Age => TimeSpan.FromMilliseconds(Environment.TickCount64 - _startedMilliseconds);

    /// <summary>Notes that the memory is back, or that it was found abandoned and its scope need not name it.</summary>
    public void End() => _scope?.Remove(this);

    /// <summary>Gets or sets the stack of the call that gave the memory back, where that was kept.</summary>
    public string? ReturnStackTrace { get; set; }

    /// <summary>Gets in words how long ago, from which allocator and where it was allocated, and where it was given back.</summary>
    public string Origin => string.Format(
        CultureInfo.InvariantCulture,
        "allocated {0:0.0} s ago{1}, at:\n{2}{3}",
        Age.TotalSeconds,
        AllocatorName is null ? "" : $" from {AllocatorName}",
        StackTrace,
        ReturnStackTrace is null ? "" : $"\nIt was given back at:\n{ReturnStackTrace}");

    public override string ToString() => string.Format(CultureInfo.InvariantCulture, "{0:N0} bytes, {1}", Bytes, Origin);
}
