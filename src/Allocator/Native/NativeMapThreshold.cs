namespace Allocator.Native;

/// <summary>
/// Fixes the size from which malloc maps an allocation by itself, once in the process. glibc raises that size, up to 32 MiB, as memory is
/// freed, and then keeps what codecs free: in a container of 350 MB the process is killed for it (docs/containers.md has the numbers).
/// Thread-safe.
/// </summary>
internal static class NativeMapThreshold
{
    /// <summary>1 MiB: a codec's memory for a few rows stays cheap, that for a whole picture goes back (docs/containers.md).</summary>
    public const int Bytes = 1024 * 1024;

    private const string Switch = "Allocator.SetNativeMapThreshold";

    // Each of these ends glibc's own adjustment of the threshold. If an operator has set one, the operator has decided.
    private static readonly string[] s_variables =
        ["MALLOC_MMAP_THRESHOLD_", "MALLOC_TRIM_THRESHOLD_", "MALLOC_MMAP_MAX_", "MALLOC_TOP_PAD_"];

    private static readonly string[] s_tunables = ["malloc.mmap_threshold", "malloc.trim_threshold", "malloc.mmap_max", "malloc.top_pad"];

    private static int s_isDecided;

    public static bool IsSet { get; private set; }

    /// <summary>Decides for the process, unless that was done before.</summary>
    /// <param name="isWanted">Whether the allocator being made wants it. If it is null, nothing is decided.</param>
    /// <returns>Whether this call has set the threshold.</returns>
    public static bool Decide(bool? isWanted)
    {
        if (isWanted is not bool wanted || Volatile.Read(ref s_isDecided) != 0 || Interlocked.Exchange(ref s_isDecided, 1) != 0)
        {
            return false;
        }

        bool isAllowed = !AppContext.TryGetSwitch(Switch, out bool isOn) || isOn;
        IsSet = wanted && isAllowed && !IsNamedByEnvironment() && LibC.IsMallocOfGlibc() && LibC.TrySetMapThreshold(Bytes);
        return IsSet;
    }

    private static bool IsNamedByEnvironment()
    {
        string tunables = Environment.GetEnvironmentVariable("GLIBC_TUNABLES") ?? "";
        return Array.Exists(s_variables, static name => Environment.GetEnvironmentVariable(name) is not null)
            || Array.Exists(s_tunables, name => tunables.IndexOf(name, StringComparison.Ordinal) >= 0);
    }
}
