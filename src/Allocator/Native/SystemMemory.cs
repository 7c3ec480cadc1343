using Allocator.Diagnostics;

namespace Allocator.Native;

/// <summary>
/// Reads how much memory there is, how much of it is used and how much is left, from the system itself: the figures of the GC are as old
/// as its last collection. Thread-safe. Replaced in tests.
/// </summary>
internal abstract class SystemMemory
{
    // The used part from which on load is high in any case: what the runtime's GC calls a high memory load.
    private const double HighUse = 0.9;

    // The used part from which on stalls count. With more room, another container causes them: a neighbour that exhausts the machine
    // stalls a container that has room too, and to empty its pool would help neither.
    private const double UseWithStalls = 0.75;

    // The part of the time, in percent, that some thread has to be stalled for memory: 200 ms in 2 s is from when on systemd asks services
    // to release their caches (MemoryPressureThresholdSec, systemd.io/PRESSURE). systemd-oomd kills at 60; Android's lmkd calls 7 a
    // partial stall.
    private const double HighStalledPercent = 10;

    private const long Unknown = long.MaxValue;

    // 0 before the first read.
    private long _availableBytes;

    /// <summary>Gets the one of the operating system that runs.</summary>
    public static SystemMemory Shared { get; } =
        RuntimeInformation.IsOSPlatform(OSPlatform.Linux) ? new LinuxSystemMemory(SystemFile.TryOpen)
        : RuntimeInformation.IsOSPlatform(OSPlatform.Windows) ? new WindowsSystemMemory()
        : new CollectorMemory();

    /// <summary>
    /// Gets how much memory the process may use at most, as of the last <see cref="ReadLoad"/>: the lowest of what the machine has, the
    /// container allows and the GC may use; null where that is unknown.
    /// </summary>
    public long? AvailableBytes
    {
        get
        {
            if (Volatile.Read(ref _availableBytes) == 0)
            {
                ReadLoad();
            }

            long bytes = Volatile.Read(ref _availableBytes);
            return bytes == Unknown ? null : bytes;
        }
    }

    /// <summary>Reads how short memory is: limits change while a process runs. System calls: at ticks, and for diagnostics.</summary>
    public MemoryLoad ReadLoad()
    {
        MemoryLoad load = ReadSystem();
        long total = load.TotalBytes > 0 ? load.TotalBytes : Unknown;
        Volatile.Write(ref _availableBytes, Math.Min(total, TryReadCollectorLimit() ?? Unknown));
        return load;
    }

    /// <summary>Reads how much memory is left. Never throws.</summary>
    /// <remarks>
    /// Here from the load. Windows counts memory against a job's limit when it is committed, and refuses it then, and so does no harm;
    /// macOS has no limits of that kind.
    /// </remarks>
    public virtual Headroom ReadHeadroom()
    {
        try
        {
            MemoryLoad load = ReadLoad();
            long free = load.TotalBytes - load.UsedBytes;
            return load.TotalBytes <= 0 ? Headroom.Unknown
                : new Headroom(load.TotalBytes, free, load.Source == MemoryLoadSource.JobObject ? free : long.MaxValue);
        }
        catch (Exception)
        {
            // For want of managed memory.
            return Headroom.Unknown;
        }
    }

    /// <summary>Returns how many bytes of a range have no memory behind them yet, so that no reading contains them.</summary>
    public virtual long UntouchedBytes(nint address, long lengthInBytes) => 0;

    /// <summary>Returns the resident bytes of this process; 0 where that is unknown. Never throws.</summary>
    public virtual long ReadResidentBytes() => 0;

    /// <summary>Returns the same figures, judged.</summary>
    public static MemoryLoad Judge(MemoryLoad load) => load with
    {
        IsHigh = load.UsedBytes >= load.TotalBytes * HighUse
            || (load.StalledPercent >= HighStalledPercent && load.UsedBytes >= load.TotalBytes * UseWithStalls),
    };

    /// <summary>Returns of two limits the one that is short of memory, or else that leaves less; the other where one is null.</summary>
    public static MemoryLoad? Tighter(MemoryLoad? a, MemoryLoad? b) =>
        a is not MemoryLoad first || b is not MemoryLoad second ? a ?? b
        : first.IsHigh != second.IsHigh ? (first.IsHigh ? a : b)
        : first.TotalBytes - first.UsedBytes <= second.TotalBytes - second.UsedBytes ? a : b;

    /// <summary>Reads what the GC knows, which honours container limits and job objects; null where it says nothing.</summary>
    public static MemoryLoad? TryReadCollector()
    {
#if NET
        GCMemoryInfo info = GC.GetGCMemoryInfo();
        return TryJudgeCollector(info.MemoryLoadBytes, info.TotalAvailableMemoryBytes, info.HighMemoryLoadThresholdBytes);
#else
        return null;
#endif
    }

    /// <summary>Judges the GC's figures; null where they say nothing.</summary>
    /// <param name="used">What is used of the container or machine, by all processes.</param>
    /// <param name="available">
    /// What the GC itself may use: with a hard limit for its heap, which every container sets, less than the container or machine has.
    /// </param>
    /// <param name="high">From which use on load is high: 90 % of the container or machine, unless configured.</param>
    public static MemoryLoad? TryJudgeCollector(long used, long available, long high) =>
        available > 0 && high > 0 && used >= 0
            ? new MemoryLoad
            {
                Source = MemoryLoadSource.Collector,
                UsedBytes = used,
                TotalBytes = Math.Max(available, high),
                IsHigh = used >= high,
            }
            : null;

    /// <summary>Reads how many bytes the GC may use; null where it says nothing.</summary>
    public static long? TryReadCollectorLimit()
    {
#if NET
        return GC.GetGCMemoryInfo().TotalAvailableMemoryBytes is long available and > 0 ? available : null;
#else
        return null;
#endif
    }

    protected abstract MemoryLoad ReadSystem();

    private sealed class CollectorMemory : SystemMemory
    {
        protected override MemoryLoad ReadSystem() => TryReadCollector() ?? default;
    }
}

/// <summary>How much memory is left to a process, as of one reading.</summary>
/// <param name="LimitBytes">The limit that leaves least: of the container or, without one, the memory of the machine.</param>
/// <param name="FreeBytes">
/// What that limit leaves, with idle file pages counted as free. Below zero where more is used.
/// </param>
/// <param name="CertainBytes">
/// What can be taken before a process is killed, with all that the kernel could reclaim counted as free: of hard limits alone.
/// <see cref="long.MaxValue"/> where there is none.
/// </param>
internal readonly record struct Headroom(long LimitBytes, long FreeBytes, long CertainBytes)
{
    /// <summary>Gets what is read where the system reports nothing: nothing is known to be limited.</summary>
    public static Headroom Unknown { get; } = new(long.MaxValue, long.MaxValue, long.MaxValue);

    /// <summary>Gets whether there is a limit that a process is killed for.</summary>
    public bool HasHardLimit => CertainBytes != long.MaxValue;
}
