namespace Measuring.Cgroups;

/// <summary>What the files of a memory cgroup are called, and what they take: the two versions of the interface agree on little.</summary>
/// <param name="Limit">Takes the most memory that the group may hold, in bytes.</param>
/// <param name="SwapLimit">Keeps the group from swapping; absent where the kernel does not account for swap.</param>
/// <param name="SwapLimitIsTotal">Whether that file takes memory and swap together, and not swap alone.</param>
/// <param name="Usage">Tells what is charged now, in bytes.</param>
/// <param name="Peak">Tells the most that ever was; absent in version 2 before Linux 5.19.</param>
/// <param name="Events">Holds the line <c>oom_kill</c>, which counts the processes that the kernel ended.</param>
/// <param name="CachedFiles">
/// The line of <c>memory.stat</c> with cached files and shared memory together, of the group and those below it.
/// </param>
/// <param name="SharedMemory">The line with shared memory alone, which the kernel cannot drop.</param>
internal sealed record CgroupFiles(
    string Limit,
    string SwapLimit,
    bool SwapLimitIsTotal,
    string Usage,
    string Peak,
    string Events,
    string CachedFiles,
    string SharedMemory)
{
    /// <summary>The processes of a group, a number a line; writing one moves it in.</summary>
    public const string Processes = "cgroup.procs";

    /// <summary>Gets the names of version 1.</summary>
    public static CgroupFiles Version1 { get; } = new(
        "memory.limit_in_bytes", "memory.memsw.limit_in_bytes", true, "memory.usage_in_bytes", "memory.max_usage_in_bytes",
        "memory.oom_control", "total_cache", "total_shmem");

    /// <summary>Gets the names of version 2.</summary>
    public static CgroupFiles Version2 { get; } = new(
        "memory.max", "memory.swap.max", false, "memory.current", "memory.peak", "memory.events", "file", "shmem");
}
