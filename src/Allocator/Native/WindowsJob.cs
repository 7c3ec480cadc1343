using Allocator.Diagnostics;

namespace Allocator.Native;

/// <summary>The job object of the process: how much it may commit, and how much is committed.</summary>
internal static unsafe class WindowsJob
{
    private const int ExtendedLimits = 9; // JobObjectExtendedLimitInformation
    private const int MemoryUsage = 28; // JobObjectMemoryUsageInformation, since Windows 10: what Windows containers report as their use

    /// <summary>Reads use and limit. Null if the process is in no job, or its job limits no memory.</summary>
    public static MemoryLoad? TryRead()
    {
        Limits limits;
        if (QueryInformationJobObject(0, ExtendedLimits, &limits, (uint)sizeof(Limits), null) == 0)
        {
            return null;
        }

        Usage usage;
        bool knowsUsage = QueryInformationJobObject(0, MemoryUsage, &usage, (uint)sizeof(Usage), null) != 0;
        ProcessCounters process = new() { Size = (uint)sizeof(ProcessCounters) };
        bool knowsProcess = K32GetProcessMemoryInfo(GetCurrentProcess(), &process, (uint)sizeof(ProcessCounters)) != 0;
        return TryJudge(limits, knowsProcess ? (long)process.PrivateUsage : null, knowsUsage ? (long)usage.JobMemory : null);
    }

    /// <summary>Judges limits by committed bytes. Returns the limit that is short of memory, or else the one that leaves less.</summary>
    /// <remarks>If the committed bytes of the job are unknown, those of this process are used instead.</remarks>
    public static MemoryLoad? TryJudge(in Limits limits, long? committedByProcess, long? committedByJob)
    {
        MemoryLoad? process = (limits.Flags & Limits.OfProcess) != 0
            ? TryJudge(nameof(Limits.ProcessMemoryLimit), limits.ProcessMemoryLimit, committedByProcess)
            : null;
        MemoryLoad? job = (limits.Flags & Limits.OfJob) != 0
            ? TryJudge(nameof(Limits.JobMemoryLimit), limits.JobMemoryLimit, committedByJob ?? committedByProcess)
            : null;
        return process is MemoryLoad first && job is MemoryLoad second ? SystemMemory.Tighter(first, second) : process ?? job;
    }

    private static MemoryLoad? TryJudge(string origin, nuint limit, long? committed) =>
        limit > 0 && limit <= long.MaxValue && committed is long used and >= 0
            ? SystemMemory.Judge(new MemoryLoad
            {
                Source = MemoryLoadSource.JobObject,
                Origin = origin,
                UsedBytes = used,
                TotalBytes = (long)limit,
            })
            : null;

    // The job 0 is that of the calling process.
    [DllImport("kernel32")]
    private static extern int QueryInformationJobObject(nint job, int kind, void* information, uint length, uint* returnedLength);

    [DllImport("kernel32")]
    private static extern nint GetCurrentProcess();

    [DllImport("kernel32")]
    private static extern int K32GetProcessMemoryInfo(nint process, ProcessCounters* counters, uint size);

    /// <summary>JOBOBJECT_EXTENDED_LIMIT_INFORMATION of winnt.h: what processes may commit, each of them and all together.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public struct Limits
    {
        /// <summary>The flag that <see cref="ProcessMemoryLimit"/> counts (JOB_OBJECT_LIMIT_PROCESS_MEMORY).</summary>
        public const uint OfProcess = 0x100;

        /// <summary>The flag that <see cref="JobMemoryLimit"/> counts (JOB_OBJECT_LIMIT_JOB_MEMORY).</summary>
        public const uint OfJob = 0x200;

        public fixed long UserTimeLimits[2];
        public uint Flags;
        public nuint MinimumWorkingSetSize;
        public nuint MaximumWorkingSetSize;
        public uint ActiveProcessLimit;
        public nuint Affinity;
        public fixed uint Classes[2];
        public fixed ulong InputAndOutput[6];
        public nuint ProcessMemoryLimit;
        public nuint JobMemoryLimit;
        public nuint PeakProcessMemoryUsed;
        public nuint PeakJobMemoryUsed;
    }

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
