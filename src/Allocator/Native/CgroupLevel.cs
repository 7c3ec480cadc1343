using System;

namespace Allocator.Native;

/// <summary>The files of one control group that tell how much memory it leaves.</summary>
internal sealed class CgroupLevel : IDisposable
{
    private readonly SystemFile _limit;
    private readonly SystemFile _usage;
    private readonly SystemFile? _statistics;

    // Of version 2: from there on processes are slowed down until the group is below it again.
    private readonly SystemFile? _high;

    // With swap. In version 1 of memory and swap together, in version 2 of swap alone.
    private readonly SystemFile? _swapLimit;
    private readonly SystemFile? _swapUsage;
    private readonly bool _isVersion2;

    private CgroupLevel(Func<string, SystemFile?> open, string folder, SystemFile limit, SystemFile usage, bool isVersion2)
    {
        _limit = limit;
        _usage = usage;
        _isVersion2 = isVersion2;
        _statistics = open(folder + "/memory.stat");
        _high = isVersion2 ? open(folder + "/memory.high") : null;
        _swapLimit = open(folder + (isVersion2 ? "/memory.swap.max" : "/memory.memsw.limit_in_bytes"));
        _swapUsage = open(folder + (isVersion2 ? "/memory.swap.current" : "/memory.memsw.usage_in_bytes"));
    }

    /// <summary>Opens the files; null where the folder has none: the root has no limit.</summary>
    public static CgroupLevel? TryOpen(Func<string, SystemFile?> open, string folder, bool isVersion2)
    {
        SystemFile? limit = open(folder + (isVersion2 ? "/memory.max" : "/memory.limit_in_bytes"));
        SystemFile? usage = open(folder + (isVersion2 ? "/memory.current" : "/memory.usage_in_bytes"));
        if (limit is not null && usage is not null)
        {
            return new CgroupLevel(open, folder, limit, usage, isVersion2);
        }

        limit?.Dispose();
        usage?.Dispose();
        return null;
    }

    /// <summary>Reads what the group leaves: of its limits, the lowest.</summary>
    /// <param name="freeSwap">What the machine has free of swap.</param>
    public Headroom Read(long freeSwap)
    {
        long hard = ReadLimit(_limit);
        long limit = Math.Min(hard, ReadLimit(_high));
        if (limit == long.MaxValue)
        {
            return Headroom.Unknown;
        }

        long usage = ReadNumber(_usage);
        _statistics?.Refresh();

        // The kernel counts pages in batches: there may seem to be more of a kind than of all.
        long idleFile = Find("inactive_file"u8, "total_inactive_file"u8);
        long reclaimable = Find("file"u8, "total_cache"u8) - Find("shmem"u8, "total_shmem"u8) + (_isVersion2 ? Find("slab_reclaimable"u8, default) : 0);
        long free = limit - Math.Max(0, usage - idleFile);
        return new Headroom(limit, free, hard == long.MaxValue ? hard : Certain(hard, usage, reclaimable, freeSwap));
    }

    public void Dispose()
    {
        _limit.Dispose();
        _usage.Dispose();
        _statistics?.Dispose();
        _high?.Dispose();
        _swapLimit?.Dispose();
        _swapUsage?.Dispose();
    }

    private static long ReadNumber(SystemFile file)
    {
        file.Refresh();
        return file.Number ?? 0;
    }

    // "max" in version 2; in version 1 a number a page below 2^63.
    private static long ReadLimit(SystemFile? file)
    {
        file?.Refresh();
        return file?.Number is long limit and > 0 and < long.MaxValue / 2 ? limit : long.MaxValue;
    }

    private long Certain(long limit, long usage, long reclaimable, long freeSwap)
    {
        long certain = limit - Math.Max(0, usage - Math.Max(0, reclaimable));
        if (freeSwap <= 0)
        {
            return certain;
        }

        // Before anybody is killed, pages are written to swap.
        _swapLimit?.Refresh();
        long swapLimit = _swapLimit?.Number ?? long.MaxValue;
        long swapUsage = _swapUsage is null ? 0 : ReadNumber(_swapUsage);
        if (_isVersion2)
        {
            // A limit of 0 is the usual one, which Kubernetes sets.
            return certain + Math.Max(0, Math.Min(freeSwap, swapLimit - swapUsage));
        }

        long withSwap = swapLimit - Math.Max(0, swapUsage - Math.Max(0, reclaimable));
        return Math.Min(certain + freeSwap, withSwap);
    }

    private long Find(ReadOnlySpan<byte> keyOfVersion2, ReadOnlySpan<byte> keyOfVersion1) => _statistics?.Find(_isVersion2 ? keyOfVersion2 : keyOfVersion1) ?? 0;
}
