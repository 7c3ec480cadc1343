using System;
using System.Linq;
using Allocator.Diagnostics;
using Allocator.Native;

namespace Decisions.Machines;

/// <summary>Knows how much memory a measurement may take without driving the machine, or the container, to swapping, which it would then measure.</summary>
internal static class SpareMemory
{
    /// <summary>Returns the number of pieces wanted, or as many as fit into half of what is free.</summary>
    public static int Fit(int wanted, long bytesEach)
    {
        MemoryLoad?[] limits = OperatingSystem.IsLinux()
            ? [new LinuxSystemMemory(SystemFile.TryOpen).ReadLoad()]
            : [];
        long free = limits.OfType<MemoryLoad>().Select(limit => limit.TotalBytes - limit.UsedBytes)
            .DefaultIfEmpty(GC.GetGCMemoryInfo().TotalAvailableMemoryBytes / 2).Min();
        return (int)Math.Clamp(free / 2 / bytesEach, 1, wanted);
    }
}
