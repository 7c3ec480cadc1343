using Allocator.Diagnostics;

namespace Allocator.Native;

/// <summary>From when on memory counts as short, and which of several limits decides.</summary>
internal static class LoadThresholds
{
    /// <summary>The used part from which on load is high in any case: what the runtime's GC calls a high memory load.</summary>
    public const double HighUse = 0.9;

    /// <summary>
    /// The used part from which on stalls count. With more room than that they are somebody else's: a neighbour that exhausts the machine stalls a container that has room too, and to empty its pool would help neither.
    /// </summary>
    public const double UseWithStalls = 0.75;

    /// <summary>
    /// The part of the time, in percent, that some thread has to be stalled for memory: 200 ms in 2 s is from when on systemd asks services to give up their caches (<c>MemoryPressureThresholdSec</c>, systemd.io/PRESSURE).
    /// systemd-oomd kills at 60; Android's lmkd calls 7 a partial stall.
    /// </summary>
    public const double StalledPercent = 10;

    /// <summary>Gives the same figures, judged.</summary>
    public static MemoryLoad Judge(MemoryLoad load) => load with
    {
        IsHigh = load.UsedBytes >= load.TotalBytes * HighUse
            || (load.StalledPercent >= StalledPercent && load.UsedBytes >= load.TotalBytes * UseWithStalls),
    };

    /// <summary>Gives of two limits that both bind the one that is short of memory, or else the one that leaves less; the other where one is not there.</summary>
    public static MemoryLoad? Tighter(MemoryLoad? a, MemoryLoad? b)
    {
        if (a is not MemoryLoad first || b is not MemoryLoad second)
        {
            return a ?? b;
        }

        return first.IsHigh != second.IsHigh ? (first.IsHigh ? a : b)
            : first.TotalBytes - first.UsedBytes <= second.TotalBytes - second.UsedBytes ? a : b;
    }
}
