using System;
using System.Linq;

namespace Allocator.Native;

/// <summary>The memory of the control group that the process lives in: the container's limit, and what is used of it.</summary>
internal static class CgroupMemory
{
    private const string Membership = "/proc/self/cgroup";
    private const string Version1Root = "/sys/fs/cgroup/memory";
    private const string Version2Root = "/sys/fs/cgroup";

    /// <summary>Gives usage and limit of the group, or of the ancestor whose limit leaves least; null where no group limits memory.</summary>
    public static MemoryUsage? TryRead(Func<string, string?> readFile)
    {
        MemoryUsage? tightest = null;
        foreach (string line in (readFile(Membership) ?? string.Empty).Split('\n'))
        {
            // hierarchy:controllers:path, with hierarchy 0 and no controllers for version 2.
            string[] parts = line.Trim().Split([':'], 3);
            if (parts.Length != 3)
            {
                continue;
            }

            if (parts[1].Split(',').Contains("memory"))
            {
                tightest = Tighter(tightest, Climb(readFile, Version1Root, parts[2], ReadVersion1));
            }
            else if (parts[0] == "0" && parts[1].Length == 0)
            {
                tightest = Tighter(tightest, Climb(readFile, Version2Root, parts[2], ReadVersion2));
            }
        }

        return tightest;
    }

    // A limit of any ancestor binds. In a container the path may be the host's and lead nowhere: then only the root of the mount answers, which is the container.
    private static MemoryUsage? Climb(
        Func<string, string?> readFile, string root, string path, Func<Func<string, string?>, string, MemoryUsage?> read)
    {
        MemoryUsage? tightest = null;
        string folder = path.TrimEnd('/');
        while (true)
        {
            tightest = Tighter(tightest, read(readFile, root + folder));
            int slash = folder.LastIndexOf('/');
            if (slash < 0)
            {
                return tightest;
            }

            folder = folder.Substring(0, slash);
        }
    }

    private static MemoryUsage? ReadVersion1(Func<string, string?> readFile, string folder) =>
        Read(readFile, folder, "/memory.limit_in_bytes", "/memory.usage_in_bytes", "total_inactive_file");

    private static MemoryUsage? ReadVersion2(Func<string, string?> readFile, string folder) =>
        Read(readFile, folder, "/memory.max", "/memory.current", "inactive_file");

    private static MemoryUsage? Read(Func<string, string?> readFile, string folder, string limitFile, string usageFile, string cacheKey)
    {
        // "max" in version 2, a number near 2^63 in version 1: no limit.
        if (!long.TryParse(readFile(folder + limitFile)?.Trim(), out long limit) || limit <= 0 || limit >= long.MaxValue / 2
            || !long.TryParse(readFile(folder + usageFile)?.Trim(), out long usage))
        {
            return null;
        }

        // File pages that nobody has touched lately go before anyone is killed; Kubernetes subtracts the same.
        long cache = SystemFiles.FindNumber(readFile(folder + "/memory.stat"), cacheKey) ?? 0;
        return new MemoryUsage(Math.Max(0, usage - cache), limit);
    }

    private static MemoryUsage? Tighter(MemoryUsage? a, MemoryUsage? b)
    {
        if (a is not MemoryUsage first || b is not MemoryUsage second)
        {
            return a ?? b;
        }

        return first.TotalBytes - first.UsedBytes <= second.TotalBytes - second.UsedBytes ? a : b;
    }
}
