using System;
using Allocator.Diagnostics;

namespace Allocator.Native;

/// <summary>What the GC knows of memory. It honours container limits and job objects, and is as old as the last collection.</summary>
internal static class CollectorMemory
{
    public static MemoryLoad? TryRead()
    {
#if NET
        GCMemoryInfo info = GC.GetGCMemoryInfo();
        return TryJudge(info.MemoryLoadBytes, info.TotalAvailableMemoryBytes, info.HighMemoryLoadThresholdBytes);
#else
        return null;
#endif
    }

    /// <summary>Judges its figures; null where they say nothing.</summary>
    /// <param name="used">What is used of the container or machine, by everybody.</param>
    /// <param name="available">What the GC itself may use: with a hard limit for its heap, which every container sets, less than the container or machine has.</param>
    /// <param name="high">From which use on load is high: 90 % of the container or machine, unless configured.</param>
    public static MemoryLoad? TryJudge(long used, long available, long high) =>
        available > 0 && high > 0 && used >= 0
            ? new MemoryLoad { Source = MemoryLoadSource.Collector, UsedBytes = used, TotalBytes = Math.Max(available, high), IsHigh = used >= high }
            : null;

    /// <summary>Gives how many bytes the GC may use; null where it says nothing.</summary>
    public static long? TryReadAvailable()
    {
#if NET
        return GC.GetGCMemoryInfo().TotalAvailableMemoryBytes is long available and > 0 ? available : null;
#else
        return null;
#endif
    }
}
