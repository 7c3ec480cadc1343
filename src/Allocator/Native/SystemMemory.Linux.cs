using System.Buffers.Text;
using Allocator.Diagnostics;

namespace Allocator.Native;

/// <summary>
/// Reads the limits of the process's control groups, its own and all around it, in versions 1 and 2. If there is none, it reads the
/// machine's memory, and as a last resort the GC's figures. The files stay open: while the process stays in its groups, a reading takes a
/// few system calls and no managed memory.
/// </summary>
/// <param name="open">Opens a file; returns null if there is none.</param>
/// <param name="readMachineBytes">Returns the memory of the machine as the kernel itself reports it; 0 if it does not.</param>
internal sealed class LinuxSystemMemory(Func<string, SystemFile?> open, Func<long>? readMachineBytes = null) : SystemMemory
{
    private const string MachinePath = "/proc/meminfo";

    // A smaller limit is not a container's but an error: .NET does not start in so little.
    private const long LeastLimitInBytes = 16 * 1024 * 1024;

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
            // In pages: all, resident, shared and so on.
            using SystemFile? file = open("/proc/self/statm");
            file?.Refresh();
            ReadOnlySpan<byte> text = file is null ? default : file.Text;
            int second = text.IndexOf((byte)' ') + 1;
            return Utf8Parser.TryParse(text.Slice(second), out long pages, out _) ? pages * Environment.SystemPageSize : 0;
        }
        catch (Exception)
        {
            // Managed memory has run out.
            return 0;
        }
    }

    protected override SystemReading ReadSystem(bool looksForLimits)
    {
        if (looksForLimits && _groups.Length == 0)
        {
            // The groups may control memory only since they were opened.
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
                // A group was removed just now: tries again with the remaining groups.
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
        _membership ??= open("/proc/self/cgroup");
        _membership?.Refresh();
        ReadOnlySpan<byte> membership = _membership is null ? default : _membership.Text;
        if (_membershipSeen is null || !membership.SequenceEqual(_membershipSeen))
        {
            // If opening fails, the files of the last group are closed already.
            _membershipSeen = null;
            OpenGroups(_membership?.ToString() ?? string.Empty);
            _membershipSeen = membership.ToArray();
        }
    }

    // A method of its own because of its lambda: the object that a lambda captures is made at the beginning of the method.
    private void OpenGroups(string membership)
    {
        foreach (ControlGroup group in _groups)
        {
            group.Dispose();
        }

        _ownStalls?.Dispose();
        _groups = [.. ControlGroup.OpenAll(open, membership)];
        _ownStalls = ControlGroup.Folders(membership, isVersion2: true).Take(1)
            .Select(folder => OpenOrNone(folder + "/memory.pressure")).FirstOrDefault();
    }

    // Opens a file that a reading can do without.
    private SystemFile? OpenOrNone(string path)
    {
        try
        {
            return open(path);
        }
        catch (IOException)
        {
            return null;
        }
    }

    private SystemReading ReadGroupsAndMachine(bool skipsUnreadable)
    {
        // Of a virtual machine both change while it runs, also between the two.
        long reported = readMachineBytes?.Invoke() ?? 0;
        _machine ??= open(MachinePath);
        _machine?.RefreshIfReadable();
        reported = Math.Min(reported, readMachineBytes?.Invoke() ?? 0);
        long total = _machine?.Find("MemTotal"u8) ?? 0;
        long available = _machine?.Find("MemAvailable"u8) ?? -1;
        long freeSwap = _machine?.Find("SwapFree"u8) ?? 0;
        if (total < Math.Min(reported, LeastLimitInBytes) || available < 0 || available > total)
        {
            total = 0;
        }

        // If lxcfs shows a container its own limit, the total is below what the kernel reports.
        bool isLimited = total > 0 && total < reported;
        SystemReading? machine = null;
        if (total > 0)
        {
            // MemAvailable is the kernel's own estimate of how much memory is available without swapping; page cache counts as available.
            Headroom left = new(total, available, long.MaxValue);
            long used = total - available;
            MemoryLoad use = new() { Source = MemoryLoadSource.Machine, Origin = MachinePath, UsedBytes = used, TotalBytes = total };
            machine = new SystemReading(
                Judge(use),
                isLimited ? left with { CertainBytes = available + freeSwap, HardBytes = total + freeSwap } : left);
        }

        long machineBytes = Math.Max(total, reported);
        machineBytes = machineBytes == 0 ? long.MaxValue : machineBytes;
        SystemReading? limited = TryReadGroups(isLimited ? machine : null, machineBytes, freeSwap, skipsUnreadable);
        if (limited is null && machine is SystemReading { Load: MemoryLoad load } unlimited)
        {
            return unlimited with { Load = Judge(load with { StalledPercent = ReadStalls() }) };
        }

        return limited ?? new SystemReading(TryReadCollector() ?? default, Headroom.Unknown);
    }

    // A limit up to the machine's memory is a container. While the container has room, its neighbours' use does not concern it.
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
                // Not even at first: the other groups, and the machine, can still be read.
            }
        }

        return tightest;
    }

    // Stalls of the process's own group, which counts them even without a limit. The machine's figure also rises when a neighbour stalls
    // at its own limit.
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
