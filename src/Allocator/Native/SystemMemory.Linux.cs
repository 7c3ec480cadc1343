using System.Buffers.Text;
using Allocator.Diagnostics;

namespace Allocator.Native;

/// <summary>
/// Reads the process's control groups, versions 1 and 2, its own and all around it; without a limit, the machine; without that, the GC.
/// The files stay open: while the process stays in its groups a reading takes a few calls to the system, and no managed memory.
/// </summary>
/// <param name="open">Opens a file; null where there is none.</param>
/// <param name="machineBytes">The memory of the machine as the kernel itself reports it; 0 if it does not.</param>
internal sealed class LinuxSystemMemory(Func<string, SystemFile?> open, long machineBytes = 0) : SystemMemory
{
    private const string MachinePath = "/proc/meminfo";

    // What shows less is not a container's limit but nonsense: .NET does not start there.
    private const long LeastLimitInBytes = 16 * 1024 * 1024;

    private readonly Func<string, SystemFile?> _open = open;
    private readonly long _machineBytes = machineBytes;
    private SystemFile? _machine;
    private SystemFile? _machineStalls;
    private SystemFile? _membership;
    private ControlGroup[] _groups = [];
    private SystemFile? _ownStalls;
    private byte[]? _membershipSeen;

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
                return ReadGroupsAndMachine(skipsUnreadable: !isFirst && !HasRead);
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

    private SystemReading ReadGroupsAndMachine(bool skipsUnreadable)
    {
        _machine ??= _open(MachinePath);
        _machine?.RefreshIfReadable();
        long total = _machine?.Find("MemTotal"u8) ?? 0;
        long available = _machine?.Find("MemAvailable"u8) ?? -1;
        long freeSwap = _machine?.Find("SwapFree"u8) ?? 0;
        if (total < Math.Min(_machineBytes, LeastLimitInBytes) || available < 0 || available > total)
        {
            total = 0;
        }

        // Where lxcfs shows a container its own limit, the total is below what the kernel reports.
        bool isLimited = total > 0 && total < _machineBytes;
        SystemReading? machine = null;
        if (total > 0)
        {
            // MemAvailable is the kernel's own estimate of what can be had without swapping; page cache counts as available.
            Headroom left = new(total, available, long.MaxValue);
            long used = total - available;
            MemoryLoad use = new() { Source = MemoryLoadSource.Machine, Origin = MachinePath, UsedBytes = used, TotalBytes = total };
            machine = new SystemReading(
                Judge(use),
                isLimited ? left with { CertainBytes = available + freeSwap, HardBytes = total + freeSwap } : left);
        }

        long machineBytes = Math.Max(total, _machineBytes);
        machineBytes = machineBytes == 0 ? long.MaxValue : machineBytes;
        SystemReading? limited = TryReadGroups(isLimited ? machine : null, machineBytes, freeSwap, skipsUnreadable);
        if (limited is null && machine is SystemReading { Load: MemoryLoad load } unlimited)
        {
            return unlimited with { Load = Judge(load with { StalledPercent = ReadStalls() }) };
        }

        return limited ?? new SystemReading(TryReadCollector() ?? default, Headroom.Unknown);
    }

    // A limit up to the machine's memory is a container. What its neighbours use does not concern it while it has room itself.
    private SystemReading? TryReadGroups(SystemReading? tightest, long machineBytes, long freeSwap, bool skipsUnreadable)
    {
        foreach (ControlGroup group in _groups)
        {
            try
            {
                if (group.TryRead(freeSwap) is SystemReading read
                    && read.Left.LimitBytes <= machineBytes && read.Load.UsedBytes <= machineBytes)
                {
                    tightest = tightest is SystemReading other
                        ? new SystemReading(Tighter(other.Load, read.Load), Headroom.Tighter(other.Left, read.Left))
                        : read;
                }
            }
            catch (IOException) when (skipsUnreadable)
            {
                // Not even at first: the others, and the machine, are there all the same.
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
