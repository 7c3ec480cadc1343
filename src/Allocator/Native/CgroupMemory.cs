using System;
using System.Collections.Generic;
using System.Globalization;
using System.Linq;
using Allocator.Diagnostics;

namespace Allocator.Native;

/// <summary>The memory of the control group that the process lives in: the container's limit, and what is used of it.</summary>
internal static class CgroupMemory
{
    // "max" in version 2; in version 1 a number a page below 2^63.
    private const long NoLimit = long.MaxValue / 2;

    /// <summary>
    /// Gives usage and limit of the group that is short of memory, its own or one around it, or else of the one whose limit leaves least; null where no group limits memory.
    /// </summary>
    public static MemoryLoad? TryRead(Func<string, string?> readFile)
    {
        IEnumerable<MemoryLoad?> groups =
            ControlGroups.Version1Folders(readFile).Select(folder => ReadVersion1(readFile, folder))
                .Concat(ControlGroups.Version2Folders(readFile).Select(folder => ReadVersion2(readFile, folder)));
        return groups.Aggregate(default(MemoryLoad?), LoadThresholds.Tighter);
    }

    private static MemoryLoad? ReadVersion1(Func<string, string?> readFile, string folder) =>
        Read(readFile, folder, ReadLimit(readFile, folder + "/memory.limit_in_bytes"), "/memory.usage_in_bytes", "total_inactive_file");

    private static MemoryLoad? ReadVersion2(Func<string, string?> readFile, string folder)
    {
        // Above memory.high nobody is killed, but everybody is slowed down until reclaim has brought the group below it again: to whom idle memory can be given up, that is a limit.
        long limit = Math.Min(ReadLimit(readFile, folder + "/memory.max"), ReadLimit(readFile, folder + "/memory.high"));
        MemoryLoad? load = Read(readFile, folder, limit, "/memory.current", "inactive_file");
        return load is MemoryLoad known
            ? LoadThresholds.Judge(known with { StalledPercent = PressureStall.TryRead(readFile, folder + "/memory.pressure") })
            : null;
    }

    private static long ReadLimit(Func<string, string?> readFile, string path) =>
        TryParse(readFile(path)) is long limit and > 0 and < NoLimit ? limit : NoLimit;

    private static MemoryLoad? Read(Func<string, string?> readFile, string folder, long limit, string usageFile, string cacheKey)
    {
        if (limit == NoLimit || TryParse(readFile(folder + usageFile)) is not (long usage and < NoLimit))
        {
            return null;
        }

        // File pages that nobody has touched lately go before anyone is killed; Kubernetes subtracts the same. The kernel counts them in batches, so there may seem to be more of them than of everything.
        long cache = Math.Max(0, SystemFiles.FindNumber(readFile(folder + "/memory.stat"), cacheKey) ?? 0);
        return LoadThresholds.Judge(new MemoryLoad { Source = MemoryLoadSource.ControlGroup, Origin = folder, UsedBytes = Math.Max(0, usage - cache), TotalBytes = limit });
    }

    private static long? TryParse(string? text) =>
        long.TryParse(text?.Trim(), NumberStyles.None, CultureInfo.InvariantCulture, out long number) ? number : null;
}
