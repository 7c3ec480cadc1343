using System;
using System.Collections.Generic;
using System.Linq;

namespace Allocator.Native;

/// <summary>
/// Reads how much the control groups of the process leave, versions 1 and 2, its own and all around it; without a limit, what the machine has available.
/// A few calls to the system, and no managed memory while the process stays in its groups.
/// </summary>
internal sealed unsafe class CgroupHeadroom : HeadroomSource
{
    // Pages whose state is asked for in one call: 16 MiB.
    private const int PagesAtOnce = 4096;

    private readonly Func<string, SystemFile?> _open;
    private readonly SystemFile? _machine;
    private readonly SystemFile? _membership;
    private CgroupLevel[] _levels = [];
    private byte[]? _membershipSeen;
    private Headroom _last = Headroom.Unknown;

    public CgroupHeadroom(Func<string, SystemFile?> open)
    {
        _open = open;
        _machine = open("/proc/meminfo");
        _membership = open("/proc/self/cgroup");
    }

    public override Headroom Read()
    {
        try
        {
            FollowMembership();
            return _last = ReadLevels();
        }
        catch (Exception)
        {
            // A group was removed, or there is no managed memory to open the files of another: what was known holds until the next reading, which opens them anew.
            _membershipSeen = null;
            return _last;
        }
    }

    public override long UntouchedBytes(nint address, long lengthInBytes)
    {
        try
        {
            return CountUntouched(address, lengthInBytes);
        }
        catch (Exception)
        {
            // The first call to the system of its kind needs managed memory.
            return 0;
        }
    }

    private static long CountUntouched(nint address, long lengthInBytes)
    {
        int page = Environment.SystemPageSize;
        nint end = address + (nint)lengthInBytes;
        byte* isResident = stackalloc byte[PagesAtOnce];
        long untouched = 0;
        for (nint at = address & -page; at < end; at += PagesAtOnce * page)
        {
            int pages = (int)Math.Min(PagesAtOnce, ((long)(end - at) + page - 1) / page);
            if (LibC.MInCore((void*)at, (nuint)pages * (nuint)page, isResident) != 0)
            {
                // Unmapped meanwhile.
                return 0;
            }

            for (int i = 0; i < pages; i++)
            {
                untouched += (isResident[i] & 1) == 0 ? page : 0;
            }
        }

        return Math.Min(untouched, lengthInBytes);
    }

    // A process may be moved from one group to another.
    private void FollowMembership()
    {
        _membership?.Refresh();
        ReadOnlySpan<byte> membership = _membership is null ? default : _membership.Text;
        if (_membershipSeen is not null && membership.SequenceEqual(_membershipSeen))
        {
            return;
        }

        OpenLevels(_membership?.ToString() ?? string.Empty);
        _membershipSeen = membership.ToArray();
    }

    // Apart, because of its lambdas: what they capture is made where the method begins.
    private void OpenLevels(string membership)
    {
        foreach (CgroupLevel level in _levels)
        {
            level.Dispose();
        }

        IEnumerable<CgroupLevel?> version1 =
            ControlGroups.Version1Folders(_ => membership).Select(folder => CgroupLevel.TryOpen(_open, folder, isVersion2: false));
        IEnumerable<CgroupLevel?> version2 =
            ControlGroups.Version2Folders(_ => membership).Select(folder => CgroupLevel.TryOpen(_open, folder, isVersion2: true));
        _levels = [.. version1.Concat(version2).OfType<CgroupLevel>()];
    }

    private Headroom ReadLevels()
    {
        long machine = long.MaxValue;
        long available = long.MaxValue;
        long freeSwap = 0;
        if (_machine is not null)
        {
            _machine.Refresh();
            machine = _machine.Find("MemTotal"u8);
            available = _machine.Find("MemAvailable"u8);
            freeSwap = _machine.Find("SwapFree"u8);
        }

        // A limit above the machine's memory is none. What its neighbours use is not the concern of a container that has room itself.
        Headroom tightest = new(machine, available, long.MaxValue);
        bool isLimited = false;
        foreach (CgroupLevel level in _levels)
        {
            Headroom read = level.Read(freeSwap);
            if (read.LimitBytes < machine)
            {
                bool isTighter = !isLimited || read.FreeBytes < tightest.FreeBytes;
                tightest = new Headroom(
                    isTighter ? read.LimitBytes : tightest.LimitBytes,
                    isTighter ? read.FreeBytes : tightest.FreeBytes,
                    Math.Min(tightest.CertainBytes, read.CertainBytes));
                isLimited = true;
            }
        }

        return tightest;
    }
}
