using System.Buffers.Text;
using Allocator.Diagnostics;

namespace Allocator.Native;

/// <summary>
/// Reads the process's control groups, versions 1 and 2, its own and all around it; without a limit, the machine; without that, the GC.
/// The files stay open: while the process stays in its groups a reading takes a few calls to the system, and no managed memory.
/// </summary>
internal sealed unsafe class LinuxSystemMemory : SystemMemory
{
    private const string MachinePath = "/proc/meminfo";

    // Pages whose state is asked for in one call: 16 MiB.
    private const int PagesAtOnce = 4096;

    private readonly ShortLock _lock = new();
    private readonly Func<string, SystemFile?> _open;
    private SystemFile? _machine;
    private SystemFile? _machineStalls;
    private SystemFile? _membership;
    private ControlGroup[] _groups = [];
    private SystemFile? _ownStalls;
    private byte[]? _membershipSeen;
    private Headroom _last = Headroom.Unknown;

    public LinuxSystemMemory(Func<string, SystemFile?> open) => _open = open;

    public override Headroom ReadHeadroom()
    {
        using (_lock.Enter())
        {
            try
            {
                FollowMembership();
                return _last = ReadGroupsAndMachine();
            }
            catch (Exception)
            {
                // A group was removed, or there is no managed memory to open the files of another: what was known holds until the next
                // reading, which opens them anew.
                _membershipSeen = null;
                return _last;
            }
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

    public override long ReadResidentBytes()
    {
        try
        {
            // Pages: all, resident, shared and so on.
            using SystemFile? file = _open("/proc/self/statm");
            file?.Refresh();
            ReadOnlySpan<byte> text = file is null ? default : file.Text;
            int second = text.IndexOf((byte)' ') + 1;
            return Utf8Parser.TryParse(text.Slice(second), out long pages, out _) ? pages * Environment.SystemPageSize : 0;
        }
        catch (Exception)
        {
            // For want of managed memory.
            return 0;
        }
    }

    protected override MemoryLoad ReadSystem()
    {
        using (_lock.Enter())
        {
            if (_groups.Length == 0)
            {
                // Memory may have come under the control of the groups since they were opened.
                _membershipSeen = null;
            }

            MemoryLoad? machine = TryReadMachine();

            // A limit below the machine's size is a container. What its neighbours use does not concern it while it has room itself.
            if (TryReadGroups() is MemoryLoad group && (machine is null || group.TotalBytes < machine.Value.TotalBytes))
            {
                return group;
            }

            return machine is MemoryLoad load ? Judge(load with { StalledPercent = ReadStalls() }) : TryReadCollector() ?? default;
        }
    }

    private static long CountUntouched(nint address, long lengthInBytes)
    {
        int page = Environment.SystemPageSize;
        byte* isResident = stackalloc byte[PagesAtOnce];
        byte* start = (byte*)(address & -page);
        long length = lengthInBytes + ((byte*)address - start);
        long untouched = 0;
        for (long at = 0; at < length; at += (long)PagesAtOnce * page)
        {
            int pages = (int)Math.Min(PagesAtOnce, (length - at + page - 1) / page);
            if (LibC.MInCore(start + at, (nuint)pages * (nuint)page, isResident) != 0)
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
        _membership ??= _open("/proc/self/cgroup");
        _membership?.Refresh();
        ReadOnlySpan<byte> membership = _membership is null ? default : _membership.Text;
        if (_membershipSeen is null || !membership.SequenceEqual(_membershipSeen))
        {
            // Where it fails the files of the last group are closed already.
            _membershipSeen = null;
            OpenGroups(_membership?.ToString() ?? string.Empty);
            _membershipSeen = membership.ToArray();
        }
    }

    // Apart, because of its lambda: what it captures is made where the method begins.
    private void OpenGroups(string membership)
    {
        foreach (ControlGroup group in _groups)
        {
            group.Dispose();
        }

        _ownStalls?.Dispose();
        _groups = [.. ControlGroup.OpenAll(_open, membership)];
        _ownStalls = ControlGroup.Folders(membership, isVersion2: true).Take(1)
            .Select(folder => OpenOrNone(folder + "/memory.pressure")).FirstOrDefault();
    }

    // For what a reading can do without.
    private SystemFile? OpenOrNone(string path)
    {
        try
        {
            return _open(path);
        }
        catch (IOException)
        {
            return null;
        }
    }

    private MemoryLoad? TryReadMachine()
    {
        _machine ??= OpenOrNone(MachinePath);
        _machine?.RefreshIfReadable();

        // MemAvailable is the kernel's own estimate of what can be had without swapping; page cache counts as available.
        return _machine?.Find("MemTotal"u8) is long total and > 0
            && _machine.Find("MemAvailable"u8) is long available && available >= 0 && available <= total
            ? new MemoryLoad { Source = MemoryLoadSource.Machine, Origin = MachinePath, UsedBytes = total - available, TotalBytes = total }
            : null;
    }

    private MemoryLoad? TryReadGroups()
    {
        for (int i = 0; i < 2; i++)
        {
            try
            {
                FollowMembership();
                MemoryLoad? tightest = null;
                foreach (ControlGroup group in _groups)
                {
                    tightest = Tighter(tightest, group.TryReadLoad());
                }

                return tightest;
            }
            catch (IOException)
            {
                // A group was removed just now: once more, with those that are there.
                _membershipSeen = null;
            }
        }

        return null;
    }

    // Of the process's own group, which has them without a limit too: the machine's figure rises also when a neighbour is stalled by a
    // limit of its own.
    private double? ReadStalls()
    {
        _ownStalls?.RefreshIfReadable();
        if (_ownStalls?.StalledPercent is double ofGroup)
        {
            return ofGroup;
        }

        _machineStalls ??= OpenOrNone("/proc/pressure/memory");
        _machineStalls?.RefreshIfReadable();
        return _machineStalls?.StalledPercent;
    }

    private Headroom ReadGroupsAndMachine()
    {
        long machine = long.MaxValue;
        long available = long.MaxValue;
        long freeSwap = 0;
        _machine ??= _open(MachinePath);
        if (_machine is not null)
        {
            _machine.Refresh();
            machine = _machine.Find("MemTotal"u8) ?? 0;
            available = _machine.Find("MemAvailable"u8) ?? 0;
            freeSwap = _machine.Find("SwapFree"u8) ?? 0;
        }

        // A limit above the machine's memory is none. What its neighbours use does not concern a container that has room itself.
        Headroom tightest = new(machine, available, long.MaxValue);
        bool isLimited = false;
        foreach (ControlGroup group in _groups)
        {
            Headroom read = group.ReadHeadroom(freeSwap);
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
