using System.Collections.Generic;

namespace HeapPerf.Children;

/// <summary>What a child found.</summary>
internal sealed record ChildResult
{
    /// <summary>Gets why the heap cannot be had on this system; null where it can.</summary>
    public string? Unavailable { get; init; }

    /// <summary>Gets the version of the heap's library, if it tells.</summary>
    public string? Version { get; init; }

    /// <summary>Gets the time of an allocation in each run, in nanoseconds, the clock's cost subtracted: as many milliseconds a million.</summary>
    public IReadOnlyList<double> AllocateNanoseconds { get; init; } = [];

    /// <summary>Gets the time of a free in each run, likewise.</summary>
    public IReadOnlyList<double> FreeNanoseconds { get; init; } = [];

    /// <summary>Gets how many batches a thread did in a run.</summary>
    public int Batches { get; init; }

    /// <summary>Gets what one reading of the clock cost, in nanoseconds.</summary>
    public double ClockNanoseconds { get; init; }

    /// <summary>Gets the most memory of the machine that the process occupied, in bytes.</summary>
    public long PeakBytes { get; init; }

    /// <summary>Gets the same before the first allocation, with all threads started.</summary>
    public long IdleBytes { get; init; }
}
