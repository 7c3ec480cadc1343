using Allocator.Diagnostics;

namespace Allocator.Native;

/// <summary>
/// Reads from the system how much memory there is, how much of it is used and how much is left. The figures of the GC are as old as its
/// last collection. Thread-safe; no call throws. Replaced in tests.
/// </summary>
internal abstract class SystemMemory
{
    // The part in use from which load is high in any case: what the runtime's GC calls a high memory load.
    private const double HighUse = 0.9;

    // The part in use from which stalls count. With more room the stalls come from a neighbour that exhausts the machine. Emptying this
    // container's pool would then help neither of them.
    private const double UseWithStalls = 0.75;

    // The percentage of time in which some thread must stall for memory. systemd asks services to release their caches after stalls of 200
    // ms in 2 s (MemoryPressureThresholdSec, systemd.io/PRESSURE). systemd-oomd kills at 60; Android's lmkd calls 7 a partial stall.
    private const double HighStalledPercent = 10;

    // Held while files are read. A return of memory reads no file, and so never waits for this lock.
    private readonly ShortLock _lock = new(mayCallSystem: true);
    private SystemReading _last = SystemReading.Nothing;

    // As of the last reading; -1 before the first.
    private long _totalBytes = -1;

    /// <summary>Gets the implementation for the running operating system.</summary>
    public static SystemMemory Shared { get; } =
        RuntimeInformation.IsOSPlatform(OSPlatform.Linux) ? new LinuxSystemMemory(SystemFile.TryOpen, LibC.ReadTotalMemory)
        : RuntimeInformation.IsOSPlatform(OSPlatform.Windows) ? new WindowsSystemMemory()
        : new CollectorMemory();

    /// <summary>
    /// Gets how much memory the process may use at most, as of the last reading: the least of the machine's memory, the container's limit
    /// and the GC's limit. Null if unknown.
    /// </summary>
    public long? AvailableBytes
    {
        get
        {
            if (Volatile.Read(ref _totalBytes) < 0)
            {
                ReadLoad();
            }

            long total = Volatile.Read(ref _totalBytes);
            return total <= 0 ? TryReadCollectorLimit() : Math.Min(total, TryReadCollectorLimit() ?? total);
        }
    }

    /// <summary>Reads how short memory is, at ticks and for diagnostics. Limits change while a process runs.</summary>
    public MemoryLoad ReadLoad() => Read(looksForLimits: true).Load;

    public Headroom ReadHeadroom() => Read(looksForLimits: false).Left;

    /// <summary>Returns the resident bytes of this process; 0 if unknown.</summary>
    public virtual long ReadResidentBytes() => 0;

    /// <summary>Returns the same figures, with a judgement of whether load is high.</summary>
    /// <param name="load">The figures.</param>
    /// <param name="heldBytes">The used bytes that the kernel cannot reclaim, if they are known.</param>
    public static MemoryLoad Judge(MemoryLoad load, long? heldBytes = null)
    {
        long held = heldBytes ?? load.UsedBytes;
        bool isHigh = held >= load.TotalBytes * HighUse
            || (load.StalledPercent >= HighStalledPercent && held >= load.TotalBytes * UseWithStalls);
        return load with { IsHigh = isHigh };
    }

    /// <summary>Returns the limit that is short of memory, or else the one that leaves less.</summary>
    public static MemoryLoad Tighter(MemoryLoad a, MemoryLoad b) =>
        a.IsHigh != b.IsHigh ? (a.IsHigh ? a : b) : a.TotalBytes - a.UsedBytes <= b.TotalBytes - b.UsedBytes ? a : b;

    /// <summary>Reads the GC's figures, which honour container limits and job objects. Null if there are none.</summary>
    public static MemoryLoad? TryReadCollector()
    {
#if NET
        GCMemoryInfo info = GC.GetGCMemoryInfo();
        return TryJudgeCollector(info.MemoryLoadBytes, info.TotalAvailableMemoryBytes, info.HighMemoryLoadThresholdBytes);
#else
        return null;
#endif
    }

    /// <summary>Judges the GC's figures. Null if they are empty.</summary>
    /// <param name="used">The use of the container or machine, by all processes.</param>
    /// <param name="available">
    /// The GC's own limit. If its heap has a hard limit, as in every container, this is less than the memory of container or machine.
    /// </param>
    /// <param name="high">The use from which load is high: 90 % of the container or machine, unless configured.</param>
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

    /// <summary>
    /// Reads how much was allocated since the last collection, up to what the youngest generation held then: it goes with the next one.
    /// </summary>
    public virtual long ReadGarbage()
    {
#if NET
        try
        {
            GCMemoryInfo last = GC.GetGCMemoryInfo(GCKind.Any);
            long youngest = last.GenerationInfo.Length > 0 ? last.GenerationInfo[0].SizeBeforeBytes : 0;
            return Math.Max(0, Math.Min(GC.GetTotalMemory(forceFullCollection: false) - last.HeapSizeBytes, youngest));
        }
        catch (OutOfMemoryException)
        {
            return 0;
        }
#else
        return 0;
#endif
    }

    /// <summary>Reads how many bytes the GC may use. Null if it does not report a limit.</summary>
    public static long? TryReadCollectorLimit()
    {
#if NET
        return GC.GetGCMemoryInfo().TotalAvailableMemoryBytes is long available and > 0 ? available : null;
#else
        return null;
#endif
    }

    /// <summary>Gets whether a reading has succeeded. Before that there is no last reading to keep.</summary>
    protected bool HasRead => _last != SystemReading.Nothing;

    /// <summary>Reads the system, one thread at a time. If it throws, the last reading stays in force.</summary>
    /// <param name="looksForLimits">Whether to look for limits that did not exist at the last reading.</param>
    protected abstract SystemReading ReadSystem(bool looksForLimits);

    // Never throws: if managed memory or file handles run out, the last reading stays in force.
    private SystemReading Read(bool looksForLimits)
    {
        using ShortLock.Section section = _lock.Enter();
        bool isOld = false;
        try
        {
            _last = ReadSystem(looksForLimits);
        }
        catch (Exception)
        {
            // The next reading tries again.
            isOld = true;
        }

        Volatile.Write(ref _totalBytes, _last.Load.TotalBytes);
        return _last with { Left = _last.Left with { IsOld = isOld } };
    }

    private sealed class CollectorMemory : SystemMemory
    {
        protected override SystemReading ReadSystem(bool looksForLimits) => SystemReading.Of(TryReadCollector() ?? default);
    }
}

/// <summary>One reading of the system. Load and headroom are two views of it.</summary>
internal readonly record struct SystemReading(MemoryLoad Load, Headroom Left)
{
    /// <summary>Gets the reading for a system that reports nothing.</summary>
    public static SystemReading Nothing { get; } = new(default, Headroom.Unknown);

    /// <summary>Returns the reading of a system that reports only its load.</summary>
    /// <remarks>
    /// Windows counts memory against a job's limit at the commit, and refuses it then; no harm is done. macOS has no such limits.
    /// </remarks>
    public static SystemReading Of(MemoryLoad load)
    {
        long free = load.TotalBytes - load.UsedBytes;
        return load.TotalBytes <= 0 ? Nothing
            : new(load, new Headroom(load.TotalBytes, free, load.Source == MemoryLoadSource.JobObject ? free : long.MaxValue));
    }
}

/// <summary>How much memory is left to a process, as of one reading.</summary>
/// <param name="LimitBytes">The limit that leaves least: the container's or, without one, the memory of the machine.</param>
/// <param name="FreeBytes">
/// The bytes left under that limit, with all that the kernel can reclaim counted as free. Negative if the use is above the limit.
/// </param>
/// <param name="CertainBytes">
/// The bytes that can be taken before a process is killed, with all that the kernel could reclaim counted as free. Only hard limits count.
/// <see cref="long.MaxValue"/> if there is none.
/// </param>
internal readonly record struct Headroom(long LimitBytes, long FreeBytes, long CertainBytes)
{
    /// <summary>Gets the headroom of a system that reports nothing: no limit is known.</summary>
    public static Headroom Unknown { get; } = new(long.MaxValue, long.MaxValue, long.MaxValue);

    /// <summary>Gets whether the last reading failed, so that the figures are those of an earlier one.</summary>
    public bool IsOld { get; init; }

    /// <summary>
    /// Gets the most that the process can hold at once, whatever is used now, swap included. Only hard limits that count resident memory
    /// matter. <see cref="long.MaxValue"/> if there is none.
    /// </summary>
    public long HardBytes { get; init; } = long.MaxValue;

    /// <summary>Gets the most that requests and other code can have together.</summary>
    public long UsableBytes => Math.Min(LimitBytes, HardBytes);

    /// <summary>Gets whether such a limit exists. Memory counts against it when it is written to.</summary>
    public bool LimitsResident => HardBytes != long.MaxValue;

    /// <summary>Gets whether there is a limit at which a process is killed.</summary>
    public bool HasHardLimit => CertainBytes != long.MaxValue;

    /// <summary>Combines two limits: the figures of the one that leaves less, and the lower of the certain bytes.</summary>
    public static Headroom Tighter(Headroom a, Headroom b) =>
        (a.FreeBytes <= b.FreeBytes ? a : b) with
        {
            CertainBytes = Math.Min(a.CertainBytes, b.CertainBytes),
            HardBytes = Math.Min(a.HardBytes, b.HardBytes),
        };
}
