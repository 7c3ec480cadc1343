using System.Buffers.Text;
using Allocator.Diagnostics;

namespace Allocator.Native;

/// <summary>
/// Reads the process's control groups, versions 1 and 2, its own and all around it; without a limit, the machine; without that, the GC.
/// The files stay open: while the process stays in its groups a reading takes a few calls to the system, and no managed memory.
/// </summary>
internal sealed class LinuxSystemMemory : SystemMemory
{
    private const string MachinePath = "/proc/meminfo";

    private readonly Func<string, SystemFile?> _open;
    private SystemFile? _machine;
    private SystemFile? _machineStalls;
    private SystemFile? _membership;
    private ControlGroup[] _groups = [];
    private SystemFile? _ownStalls;
    private byte[]? _membershipSeen;

    public LinuxSystemMemory(Func<string, SystemFile?> open) => _open = open;

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

    protected override SystemReading ReadSystem(bool looksForLimits)
    {
        if (looksForLimits && _groups.Length == 0)
        {
            // Memory may have come under the control of the groups since they were opened.
            _membershipSeen = null;
        }

        for (bool isFirst = true; ; isFirst = false)
        {
            try
            {
                FollowMembership();
                return ReadGroupsAndMachine();
            }
            catch
            {
                // A group was removed just now: once more, with those that are there.
                _membershipSeen = null;
                if (!isFirst)
                {
                    throw;
                }
            }
        }
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

    private SystemReading ReadGroupsAndMachine()
    {
        _machine ??= _open(MachinePath);
        _machine?.RefreshIfReadable();

        // MemAvailable is the kernel's own estimate of what can be had without swapping; page cache counts as available.
        MemoryLoad? load = null;
        Headroom left = Headroom.Unknown;
        if (_machine?.Find("MemTotal"u8) is long total and > 0
            && _machine.Find("MemAvailable"u8) is long available && available >= 0 && available <= total)
        {
            load = new MemoryLoad
            {
                Source = MemoryLoadSource.Machine,
                Origin = MachinePath,
                UsedBytes = total - available,
                TotalBytes = total,
            };
            left = new Headroom(total, available, long.MaxValue);
        }

        return TryReadGroups(left.LimitBytes, _machine?.Find("SwapFree"u8) ?? 0)
            ?? new SystemReading(
                load is MemoryLoad machine ? Judge(machine with { StalledPercent = ReadStalls() }) : TryReadCollector() ?? default, left);
    }

    // A limit below the machine's memory is a container. What its neighbours use does not concern it while it has room itself.
    private SystemReading? TryReadGroups(long machineBytes, long freeSwap)
    {
        SystemReading? tightest = null;
        foreach (ControlGroup group in _groups)
        {
            if (group.TryRead(freeSwap) is SystemReading read && read.Left.LimitBytes < machineBytes)
            {
                tightest = tightest is SystemReading other
                    ? new SystemReading(Tighter(other.Load, read.Load), Headroom.Tighter(other.Left, read.Left))
                    : read;
            }
        }

        return tightest;
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
}
