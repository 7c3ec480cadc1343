using Allocator.Diagnostics;

namespace Allocator.Native;

/// <summary>The files of one control group that report its limits and its use. Not thread-safe.</summary>
internal sealed class ControlGroup(
    Func<string, SystemFile?> open, string folder, SystemFile limitFile, SystemFile usageFile, bool isVersion2)
    : IDisposable
{
    private const string Version1Root = "/sys/fs/cgroup/memory";
    private const string Version2Root = "/sys/fs/cgroup";

    // No limit is "max" in version 2, and in version 1 a number one page below 2^63.
    private const long LeastNoLimit = long.MaxValue / 2;

    private readonly SystemFile? _statistics = open(folder + "/memory.stat");

    // Version 2 only. Above it no process is killed, but all are slowed down until the group is below it again. As the process can release
    // idle memory, it treats this as a limit.
    private readonly SystemFile? _high = isVersion2 ? open(folder + "/memory.high") : null;
    private readonly SystemFile? _stalls = isVersion2 ? open(folder + "/memory.pressure") : null;

    // Version 1 counts memory and swap together, version 2 swap alone.
    private readonly SystemFile? _swapLimit = open(folder + (isVersion2 ? "/memory.swap.max" : "/memory.memsw.limit_in_bytes"));
    private readonly SystemFile? _swapUsage = open(folder + (isVersion2 ? "/memory.swap.current" : "/memory.memsw.usage_in_bytes"));

    // File pages that were not used lately are reclaimed before a process is killed; Kubernetes subtracts the same. The kernel counts
    // pages in batches, so one kind may seem to have more pages than all together.
    private long IdleFileBytes => Math.Max(0, Find("inactive_file"u8, "total_inactive_file"u8));

    private long ReclaimableBytes =>
        Math.Max(
            0,
            Find("file"u8, "total_cache"u8) - Find("shmem"u8, "total_shmem"u8) + (isVersion2 ? Find("slab_reclaimable"u8, default) : 0));

    /// <summary>Opens the groups that control the memory of a process: its own, and those around it.</summary>
    /// <param name="open">Opens a file; returns null if there is none.</param>
    /// <param name="membership">The text of <c>/proc/self/cgroup</c>.</param>
    public static IEnumerable<ControlGroup> OpenAll(Func<string, SystemFile?> open, string membership) =>
        Folders(membership, isVersion2: false).Select(folder => TryOpen(open, folder, isVersion2: false))
            .Concat(Folders(membership, isVersion2: true).Select(folder => TryOpen(open, folder, isVersion2: true)))
            .OfType<ControlGroup>();

    /// <summary>Lists the folders of the groups of one version, from the inside out.</summary>
    public static IEnumerable<string> Folders(string membership, bool isVersion2) =>
        from line in membership.Split('\n')
        let parts = line.Trim().Split([':'], 3)
        where parts.Length == 3 && IsOf(parts, isVersion2)
        from folder in Climb(isVersion2 ? Version2Root : Version1Root, parts[2])
        select folder;

    /// <summary>Reads the use and the lowest of the limits. Null if the group limits no memory, or its figures are impossible.</summary>
    /// <param name="freeSwap">The machine's free swap.</param>
    public SystemReading? TryRead(long freeSwap)
    {
        long hard = ReadLimit(limitFile);
        long limit = Math.Min(hard, ReadLimit(_high));
        if (limit == long.MaxValue || usageFile.ReadNumber() is not (long usage and >= 0 and < LeastNoLimit))
        {
            return null;
        }

        _statistics?.RefreshIfReadable();
        _stalls?.RefreshIfReadable();
        long used = Math.Max(0, usage - IdleFileBytes);
        MemoryLoad load = new()
        {
            Source = MemoryLoadSource.ControlGroup,
            Origin = folder,
            UsedBytes = used,
            TotalBytes = limit,
            StalledPercent = _stalls?.StalledPercent,
        };

        // The orchestrator shows active file pages as used. The kernel reclaims them all the same before it kills, so decisions count them
        // as free.
        long held = Math.Max(0, Math.Min(used, usage - ReclaimableBytes));
        Headroom left = new(limit, limit - held, long.MaxValue);
        load = SystemMemory.Judge(load, held);
        return new SystemReading(load, hard == long.MaxValue ? left : WithHardLimit(left, hard, usage, freeSwap));
    }

    public void Dispose()
    {
        limitFile.Dispose();
        usageFile.Dispose();
        _statistics?.Dispose();
        _high?.Dispose();
        _stalls?.Dispose();
        _swapLimit?.Dispose();
        _swapUsage?.Dispose();
    }

    // Null if the folder has no such files: the root has no limit.
    private static ControlGroup? TryOpen(Func<string, SystemFile?> open, string folder, bool isVersion2)
    {
        SystemFile? limit = open(folder + (isVersion2 ? "/memory.max" : "/memory.limit_in_bytes"));
        SystemFile? usage = open(folder + (isVersion2 ? "/memory.current" : "/memory.usage_in_bytes"));
        if (limit is not null && usage is not null)
        {
            return new ControlGroup(open, folder, limit, usage, isVersion2);
        }

        limit?.Dispose();
        usage?.Dispose();
        return null;
    }

    // Lines are hierarchy:controllers:path, with hierarchy 0 and no controllers for version 2.
    private static bool IsOf(string[] line, bool isVersion2) =>
        isVersion2 ? line[0] == "0" && line[1].Length == 0 : line[1].Split(',').Contains("memory");

    // A limit of any ancestor binds. In a container the path may be the host's and lead nowhere. Then only the root of the mount answers,
    // which is the container.
    private static IEnumerable<string> Climb(string root, string path)
    {
        string folder = path.TrimEnd('/');
        yield return root + folder;
        for (int slash = folder.LastIndexOf('/'); slash >= 0; slash = folder.LastIndexOf('/'))
        {
            folder = folder.Substring(0, slash);
            yield return root + folder;
        }
    }

    private static long ReadLimit(SystemFile? file) =>
        file?.ReadNumber() is long limit and > 0 and < LeastNoLimit ? limit : long.MaxValue;

    private Headroom WithHardLimit(Headroom left, long limit, long usage, long freeSwap)
    {
        long reclaimable = ReclaimableBytes;
        long used = Math.Max(0, usage - reclaimable);
        if (freeSwap <= 0)
        {
            return left with { CertainBytes = limit - used, HardBytes = limit };
        }

        // Pages are written to swap before a process is killed. In version 2 the limit is usually 0, which Kubernetes sets.
        long swapLimit = _swapLimit?.ReadNumber() ?? long.MaxValue;
        long swapUsage = _swapUsage?.ReadNumber() ?? 0;
        if (!isVersion2)
        {
            long both = Math.Min(limit - used + freeSwap, swapLimit - Math.Max(0, swapUsage - reclaimable));
            return left with { CertainBytes = both, HardBytes = Math.Max(limit, Math.Min(limit + freeSwap + swapUsage, swapLimit)) };
        }

        long swap = Math.Max(0, Math.Min(freeSwap, swapLimit - swapUsage));
        return left with { CertainBytes = limit - used + swap, HardBytes = limit + swap + swapUsage };
    }

    private long Find(ReadOnlySpan<byte> keyOfVersion2, ReadOnlySpan<byte> keyOfVersion1) =>
        _statistics?.Find(isVersion2 ? keyOfVersion2 : keyOfVersion1) ?? 0;
}
