namespace Allocator.Diagnostics;

/// <summary>What said how much memory there is, and how much of it is used.</summary>
public enum MemoryLoadSource
{
    /// <summary>None: the system has nothing that could be read. Load is then taken to be low.</summary>
    None,

    /// <summary>The control group (cgroup version 1 or 2) whose limit binds: the container's, or that of one around it.</summary>
    ControlGroup,

    /// <summary>The Windows job object that the process runs in, which is how a Windows container is limited.</summary>
    JobObject,

    /// <summary>The whole machine: <c>/proc/meminfo</c> on Linux, <c>GlobalMemoryStatusEx</c> on Windows.</summary>
    Machine,

    /// <summary>The GC, as of its last collection. Asked where the system has nothing that could be read.</summary>
    Collector,
}
