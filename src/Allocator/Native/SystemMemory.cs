using Allocator.Diagnostics;

namespace Allocator.Native;

/// <summary>
/// Reads how much memory there is, how much of it is used and how much is left, from the system itself: the figures of the GC are as old
/// as its last collection. Thread-safe; no call throws. Replaced in tests.
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

    // Held while files are read. What returns memory reads nothing, and never waits for it.
    private readonly ShortLock _lock = new(mayCallSystem: true);
    private SystemReading _last = SystemReading.Nothing;
    private long _totalBytes;
    private bool _isRead;

    /// <summary>Gets the one of the operating system that runs.</summary>
    public static SystemMemory Shared { get; } =
        RuntimeInformation.IsOSPlatform(OSPlatform.Linux) ? new LinuxSystemMemory(SystemFile.TryOpen, LibC.ReadTotalMemory())
        : RuntimeInformation.IsOSPlatform(OSPlatform.Windows) ? new WindowsSystemMemory()
        : new CollectorMemory();

    /// <summary>
    /// Gets how much memory the process may use at most, as of the last reading: the lowest of what the machine has, the container allows
    /// and the GC may use; null where that is unknown.
    /// </summary>
    public long? AvailableBytes
    {
        get
        {
            if (!Volatile.Read(ref _isRead))
            {
                ReadLoad();
            }

            long total = Volatile.Read(ref _totalBytes);
            return total <= 0 ? TryReadCollectorLimit() : Math.Min(total, TryReadCollectorLimit() ?? total);
        }
    }

    /// <summary>Reads how short memory is: limits change while a process runs. At ticks, and for diagnostics.</summary>
    public MemoryLoad ReadLoad() => Read(looksForLimits: true).Load;

    /// <summary>Reads how much memory is left.</summary>
    public Headroom ReadHeadroom() => Read(looksForLimits: false).Left;

    /// <summary>Returns the resident bytes of this process; 0 where that is unknown.</summary>
    public virtual long ReadResidentBytes() => 0;

    /// <summary>Returns the same figures, judged.</summary>
    public static MemoryLoad Judge(MemoryLoad load) => load with
    {
        IsHigh = load.UsedBytes >= load.TotalBytes * HighUse
            || (load.StalledPercent >= HighStalledPercent && load.UsedBytes >= load.TotalBytes * UseWithStalls),
    };

    /// <summary>Returns of two limits the one that is short of memory, or else that leaves less.</summary>
    public static MemoryLoad Tighter(MemoryLoad a, MemoryLoad b) =>
        a.IsHigh != b.IsHigh ? (a.IsHigh ? a : b) : a.TotalBytes - a.UsedBytes <= b.TotalBytes - b.UsedBytes ? a : b;

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

    /// <summary>Gets whether a reading has succeeded: until then there is none to keep.</summary>
    protected bool HasRead => _last != SystemReading.Nothing;

    /// <summary>Reads the system, one thread at a time. What it throws leaves the last reading in force.</summary>
    /// <param name="looksForLimits">Whether limits may have come since the last reading where there were none.</param>
    protected abstract SystemReading ReadSystem(bool looksForLimits);

    // Never throws: without managed memory, or with as many files open as there may be, what was known holds.
    private SystemReading Read(bool looksForLimits)
    {
        using (_lock.Enter())
        {
            try
            {
                _last = ReadSystem(looksForLimits);
            }
            catch (Exception)
            {
                // The next reading tries again.
            }

            Volatile.Write(ref _totalBytes, _last.Load.TotalBytes);
            Volatile.Write(ref _isRead, true);
            return _last;
        }
    }

    private sealed class CollectorMemory : SystemMemory
    {
        protected override SystemReading ReadSystem(bool looksForLimits) => SystemReading.Of(TryReadCollector() ?? default);
    }
}

/// <summary>One reading of the system, of which load and headroom are two views.</summary>
internal readonly record struct SystemReading(MemoryLoad Load, Headroom Left)
{
    /// <summary>Gets what is known where the system reports nothing.</summary>
    public static SystemReading Nothing { get; } = new(default, Headroom.Unknown);

    /// <summary>Returns the reading of a system that reports no more than its load.</summary>
    /// <remarks>
    /// Windows counts memory against a job's limit when it is committed, and refuses it then, and so does no harm; macOS has no limits of
    /// that kind.
    /// </remarks>
    public static SystemReading Of(MemoryLoad load)
    {
        long free = load.TotalBytes - load.UsedBytes;
        return load.TotalBytes <= 0 ? Nothing
            : new(load, new Headroom(load.TotalBytes, free, load.Source == MemoryLoadSource.JobObject ? free : long.MaxValue));
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

    /// <summary>
    /// Gets the most that the process can hold at once, whatever is used now: of hard limits that count resident memory, with swap.
    /// <see cref="long.MaxValue"/> if there is none.
    /// </summary>
    public long HardBytes { get; init; } = long.MaxValue;

    /// <summary>Gets whether such a limit holds: memory counts against it when it is written to.</summary>
    public bool LimitsResident => HardBytes != long.MaxValue;

    /// <summary>Gets whether there is a limit that a process is killed for.</summary>
    public bool HasHardLimit => CertainBytes != long.MaxValue;

    /// <summary>Returns what two limits leave together: the figures of the one that leaves less, and the least that is certain.</summary>
    public static Headroom Tighter(Headroom a, Headroom b) =>
        (a.FreeBytes <= b.FreeBytes ? a : b) with
        {
            CertainBytes = Math.Min(a.CertainBytes, b.CertainBytes),
            HardBytes = Math.Min(a.HardBytes, b.HardBytes),
        };
}
