using System.Runtime.InteropServices;

namespace Allocator.Native;

/// <summary>The numbers of <c>sys/mman.h</c>, which differ between Linux and macOS.</summary>
internal sealed unsafe class UnixConstants
{
    public const int ProtectNone = 0;
    public const int ProtectRead = 1;
    public const int ProtectReadWrite = 1 | 2;

    private UnixConstants()
    {
    }

    /// <summary>What <c>mmap</c> answers when it refuses.</summary>
    public static void* MapFailed => (void*)-1;

    /// <summary>Gets MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE.</summary>
    public int MapFlags { get; private init; }

    /// <summary>Gets the advice that takes the memory and keeps the addresses.</summary>
    public int AdvicePurge { get; private init; }

    /// <summary>Gets the advice that does the same for locked pages, where it exists.</summary>
    public int? AdvicePurgeLocked { get; private init; }

    /// <summary>Gets the advice that announces the next use of purged memory, where one is needed.</summary>
    public int? AdviceReuse { get; private init; }

    /// <summary>Gets MADV_HUGEPAGE, where it exists.</summary>
    public int? AdviceHugePage { get; private init; }

    /// <summary>Gets MADV_POPULATE_WRITE, where it exists.</summary>
    public int? AdvicePopulate { get; private init; }

    /// <summary>Gets whether memory is zero when it is touched again after a purge.</summary>
    public bool PurgeZeroes { get; private init; }

    public static UnixConstants OfThisSystem() => RuntimeInformation.IsOSPlatform(OSPlatform.OSX) ? MacOS() : Linux();

    // MADV_DONTNEED: the resident set and the cgroup's charge fall at once. After MADV_FREE they stay until the system is short.
    private static UnixConstants Linux() => new()
    {
        MapFlags = 0x02 | 0x20 | 0x4000,
        AdvicePurge = 4,
        AdvicePurgeLocked = 24,
        AdviceHugePage = 14,
        AdvicePopulate = 23,
        PurgeZeroes = true,
    };

    // MADV_FREE_REUSABLE and MADV_FREE_REUSE: the pair whose effect the system's own accounting sees.
    private static UnixConstants MacOS() => new()
    {
        MapFlags = 0x0002 | 0x1000 | 0x0040,
        AdvicePurge = 7,
        AdviceReuse = 8,
    };
}
