using System.Runtime.InteropServices;

namespace Allocator.Native;

/// <summary>Windows' <c>JOBOBJECT_EXTENDED_LIMIT_INFORMATION</c> of winnt.h: what the processes of a job may commit, each of them and all together.</summary>
[StructLayout(LayoutKind.Sequential)]
internal struct JobMemoryLimits
{
    /// <summary>The flag that <see cref="ProcessMemoryLimit"/> counts (JOB_OBJECT_LIMIT_PROCESS_MEMORY).</summary>
    public const uint LimitsProcess = 0x100;

    /// <summary>The flag that <see cref="JobMemoryLimit"/> counts (JOB_OBJECT_LIMIT_JOB_MEMORY).</summary>
    public const uint LimitsJob = 0x200;

    public long PerProcessUserTimeLimit;
    public long PerJobUserTimeLimit;
    public uint LimitFlags;
    public nuint MinimumWorkingSetSize;
    public nuint MaximumWorkingSetSize;
    public uint ActiveProcessLimit;
    public nuint Affinity;
    public uint PriorityClass;
    public uint SchedulingClass;
    public ulong ReadOperations;
    public ulong WriteOperations;
    public ulong OtherOperations;
    public ulong ReadBytes;
    public ulong WrittenBytes;
    public ulong OtherBytes;
    public nuint ProcessMemoryLimit;
    public nuint JobMemoryLimit;
    public nuint PeakProcessMemoryUsed;
    public nuint PeakJobMemoryUsed;
}
