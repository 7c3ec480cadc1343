namespace Allocator.Native;

/// <summary>How much memory is left to a process, as of one reading.</summary>
/// <param name="LimitBytes">The limit that leaves least: of the container or, without one, the memory of the machine.</param>
/// <param name="FreeBytes">
/// What that limit leaves, with file pages that were not used lately counted as free. Below zero where more than the limit is used.
/// </param>
/// <param name="CertainBytes">
/// What can be taken before a process is killed, with all that the kernel could reclaim counted as free: of hard limits alone.
/// <see cref="long.MaxValue"/> where there is none.
/// </param>
internal readonly record struct Headroom(long LimitBytes, long FreeBytes, long CertainBytes)
{
    /// <summary>Gets what is read where the system tells nothing: nothing is known to be limited.</summary>
    public static Headroom Unknown { get; } = new(long.MaxValue, long.MaxValue, long.MaxValue);

    /// <summary>Gets whether there is a limit that a process is killed for.</summary>
    public bool HasHardLimit => CertainBytes != long.MaxValue;
}
