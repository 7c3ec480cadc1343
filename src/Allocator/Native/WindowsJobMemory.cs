using System.Runtime.InteropServices;
using Allocator.Diagnostics;

namespace Allocator.Native;

/// <summary>The memory of the job object that the process runs in: what it may commit, and what of it is committed.</summary>
internal static unsafe class WindowsJobMemory
{
    private const int ExtendedLimits = 9; // JobObjectExtendedLimitInformation
    private const int MemoryUsage = 28; // JobObjectMemoryUsageInformation, since Windows 10: what Windows containers report as their use

    /// <summary>Gives use and limit; null where the process is in no job, or its job limits no memory.</summary>
    public static MemoryLoad? TryRead()
    {
        JobMemoryLimits limits;
        if (QueryInformationJobObject(0, ExtendedLimits, &limits, (uint)sizeof(JobMemoryLimits), null) == 0)
        {
            return null;
        }

        Usage usage;
        bool knowsUsage = QueryInformationJobObject(0, MemoryUsage, &usage, (uint)sizeof(Usage), null) != 0;
        ProcessCounters process = new() { Size = (uint)sizeof(ProcessCounters) };
        bool knowsProcess = K32GetProcessMemoryInfo(GetCurrentProcess(), &process, (uint)sizeof(ProcessCounters)) != 0;
        return TryJudge(limits, knowsProcess ? (long)process.PrivateUsage : null, knowsUsage ? (long)usage.JobMemory : null);
    }

    /// <summary>Judges limits by what is committed: of the two, the one that is short of memory, or else the one that leaves less.</summary>
    /// <param name="limits">What the job says.</param>
    /// <param name="committedByProcess">What this process has committed, where that is known.</param>
    /// <param name="committedByJob">What all processes of the job have; where it is not known, this process's part stands in for it.</param>
    public static MemoryLoad? TryJudge(in JobMemoryLimits limits, long? committedByProcess, long? committedByJob)
    {
        MemoryLoad? process = (limits.LimitFlags & JobMemoryLimits.LimitsProcess) != 0
            ? TryJudge(nameof(JobMemoryLimits.ProcessMemoryLimit), limits.ProcessMemoryLimit, committedByProcess) : null;
        MemoryLoad? job = (limits.LimitFlags & JobMemoryLimits.LimitsJob) != 0
            ? TryJudge(nameof(JobMemoryLimits.JobMemoryLimit), limits.JobMemoryLimit, committedByJob ?? committedByProcess) : null;
        return LoadThresholds.Tighter(process, job);
    }

    private static MemoryLoad? TryJudge(string origin, nuint limit, long? committed) =>
        limit > 0 && limit <= long.MaxValue && committed is long used and >= 0
            ? LoadThresholds.Judge(new MemoryLoad { Source = MemoryLoadSource.JobObject, Origin = origin, UsedBytes = used, TotalBytes = (long)limit })
            : null;

    // A job of 0 is that of the calling process.
    [DllImport("kernel32")]
    private static extern int QueryInformationJobObject(nint job, int kind, void* information, uint length, uint* returnedLength);

    [DllImport("kernel32")]
    private static extern nint GetCurrentProcess();

    [DllImport("kernel32")]
    private static extern int K32GetProcessMemoryInfo(nint process, ProcessCounters* counters, uint size);

    // JOBOBJECT_MEMORY_USAGE_INFORMATION.
    [StructLayout(LayoutKind.Sequential)]
    private struct Usage
    {
        public ulong JobMemory;
        public ulong PeakJobMemoryUsed;
    }

    // PROCESS_MEMORY_COUNTERS_EX of psapi.h.
    [StructLayout(LayoutKind.Sequential)]
    private struct ProcessCounters
    {
        public uint Size;
        public uint PageFaults;
        public nuint PeakWorkingSetSize;
        public nuint WorkingSetSize;
        public nuint QuotaPeakPagedPoolUsage;
        public nuint QuotaPagedPoolUsage;
        public nuint QuotaPeakNonPagedPoolUsage;
        public nuint QuotaNonPagedPoolUsage;
        public nuint PagefileUsage;
        public nuint PeakPagefileUsage;
        public nuint PrivateUsage;
    }
}
