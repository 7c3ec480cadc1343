namespace Allocator.Diagnostics;

/// <summary>
/// How short memory is, read from the system at one moment. Trimming depends on it: while <see cref="IsHigh"/>, all idle memory is
/// released; otherwise a part of what stayed idle for a whole period.
/// </summary>
public readonly record struct MemoryLoad
{
    /// <summary>Gets what the figures describe: the container if its limit is below the machine's memory, otherwise the machine.</summary>
    public MemoryLoadSource Source { get; init; }

    /// <summary>
    /// Gets the source of the figures: the folder of the control group, or the name of a file or a function. <see langword="null"/> if
    /// <see cref="Source"/> is precise enough.
    /// </summary>
    public string? Origin { get; init; }

    /// <summary>Gets the bytes in use, without idle file pages, which the kernel reclaims by itself.</summary>
    public long UsedBytes { get; init; }

    /// <summary>Gets the limit of the container or the memory of the machine, in bytes; 0 if unknown.</summary>
    public long TotalBytes { get; init; }

    /// <summary>
    /// Gets the percentage of the last ten seconds in which some thread waited for memory: the average that Linux calls pressure stall
    /// information. <see langword="null"/> if it is unknown, as in containers of cgroup version 1.
    /// </summary>
    public double? StalledPercent { get; init; }

    /// <summary>
    /// Gets whether memory is short: 90 % of it is used; or 75 %, while threads of the same group, or machine, are stalled for 10 % of the
    /// time; or Windows says that it runs low.
    /// </summary>
    public bool IsHigh { get; init; }
}

/// <summary>The source of the figures of a memory load.</summary>
public enum MemoryLoadSource
{
    /// <summary>Nothing could be read. The load is then assumed to be low.</summary>
    None,

    /// <summary>The control group (cgroup version 1 or 2) whose limit binds: the container's, or that of one around it.</summary>
    ControlGroup,

    /// <summary>The Windows job object that the process runs in, which is how a Windows container is limited.</summary>
    JobObject,

    /// <summary>The whole machine: <c>/proc/meminfo</c> on Linux, <c>GlobalMemoryStatusEx</c> on Windows.</summary>
    Machine,

    /// <summary>The GC, as of its last collection. Used if nothing else could be read.</summary>
    Collector,
}
