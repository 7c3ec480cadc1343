using System;
using System.Collections.Generic;
using System.Linq;
using HeapPerf.Children;

namespace HeapPerf.Running;

/// <summary>One of the figures that a child's result has.</summary>
/// <param name="Name">The name.</param>
/// <param name="Unit">The unit.</param>
/// <param name="Read">Reads it.</param>
internal sealed record Figure(string Name, string Unit, Func<ChildResult, double> Read)
{
    private const double Megabyte = 1e6;

    /// <summary>Gets the mean time of an allocation. Nanoseconds each are milliseconds a million.</summary>
    public static Figure AllocateTime { get; } = new("AllocTime", "ms per million", result => result.AllocateNanoseconds.Average());

    /// <summary>Gets the mean time of a free.</summary>
    public static Figure FreeTime { get; } = new("FreeTime", "ms per million", result => result.FreeNanoseconds.Average());

    /// <summary>Gets both times together: where a thread waits for its turn is chance, that it waits is not.</summary>
    public static Figure BothTimes { get; } = new("both", "ms per million", result => AllocateTime.Read(result) + FreeTime.Read(result));

    /// <summary>Gets the peak of the process.</summary>
    public static Figure PeakMemory { get; } = new("PeakMem", "MB", result => result.PeakBytes / Megabyte);

    /// <summary>Gets the peak without what the process with all its threads occupied before the first allocation.</summary>
    public static Figure HeapMemory { get; } = new("of which heap", "MB", result => (result.PeakBytes - result.IdleBytes) / Megabyte);

    /// <summary>Gets the figures of the tables.</summary>
    public static IReadOnlyList<Figure> All { get; } = [AllocateTime, FreeTime, PeakMemory, HeapMemory];

    /// <summary>Gets the name with the unit.</summary>
    public string Title => $"{Name}, {Unit}";
}
