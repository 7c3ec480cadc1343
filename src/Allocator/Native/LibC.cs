namespace Allocator.Native;

/// <summary>The calls of the C library that manage address space and its heap, with the numbers of Linux or Darwin.</summary>
internal static unsafe class LibC
{
    public const int ProtectNone = 0;
    public const int ProtectRead = 1;
    public const int ProtectReadWrite = 1 | 2;

    /// <summary>MADV_GUARD_INSTALL of Linux 6.13 and later.</summary>
    public const int AdviceInstallGuard = 102;

    /// <summary>A number that no kernel knows as advice.</summary>
    public const int AdviceOfNoKernel = int.MaxValue;

    private const int MapThreshold = -3; // M_MMAP_THRESHOLD of malloc.h
    private const int LoadedOnly = 1 | 4; // RTLD_LAZY | RTLD_NOLOAD of dlfcn.h

    // The systems of Apple's phones have the same kernel. Mac Catalyst counts as iOS.
    private static readonly bool s_isDarwin = RuntimeInformation.IsOSPlatform(OSPlatform.OSX)
        || RuntimeInformation.IsOSPlatform(OSPlatform.Create("IOS")) || RuntimeInformation.IsOSPlatform(OSPlatform.Create("TVOS"));

    /// <summary>Gets the largest threshold that glibc takes: HEAP_MAX_SIZE / 2, 32 MiB in 64-bit processes, 512 KiB in others.</summary>
    public static int LargestMapThreshold => IntPtr.Size == sizeof(long) ? 32 * 1024 * 1024 : 512 * 1024;

    /// <summary>MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE.</summary>
    public static readonly int MapFlags = s_isDarwin ? 0x0002 | 0x1000 | 0x0040 : 0x02 | 0x20 | 0x4000;

    /// <summary>The advice that returns the memory and keeps the addresses.</summary>
    /// <remarks>
    /// On Linux MADV_DONTNEED: the resident set and the cgroup's charge fall at once. After MADV_FREE they stay until the system is short.
    /// On macOS MADV_FREE_REUSABLE, with MADV_FREE_REUSE: the pair whose effect the system's own accounting sees.
    /// </remarks>
    public static readonly int AdvicePurge = s_isDarwin ? 7 : 4;

    /// <summary>MADV_DONTNEED_LOCKED, which does the same for locked pages. Null if the system has no such advice.</summary>
    public static readonly int? AdvicePurgeLocked = s_isDarwin ? null : 24;

    /// <summary>The advice that announces the next use of purged memory. Null if none is needed.</summary>
    public static readonly int? AdviceReuse = s_isDarwin ? 8 : null;

    /// <summary>MADV_HUGEPAGE. Null if the system has no such advice.</summary>
    public static readonly int? AdviceHugePage = s_isDarwin ? null : 14;

    /// <summary>MADV_NOHUGEPAGE. Null if the system has no such advice.</summary>
    public static readonly int? AdviceNoHugePage = s_isDarwin ? null : 15;

    /// <summary>MADV_POPULATE_WRITE of Linux 5.14 and later.</summary>
    public const int AdvicePopulate = 23;

    /// <summary>Whether memory is zero when it is touched again after a purge.</summary>
    public static readonly bool PurgeZeroes = !s_isDarwin;

    /// <summary>The result of <c>mmap</c> if it refuses.</summary>
    public static void* MapFailed => (void*)-1;

    /// <summary>Maps at the offset 0, which is the only one that anonymous memory has.</summary>
    public static void* MMap(void* address, nuint length, int protection, int flags, int file) =>
        MMap(address, length, protection, flags, file, 0, 0, 0);

    [DllImport("libc", EntryPoint = "munmap")]
    public static extern int MUnmap(void* address, nuint length);

    [DllImport("libc", EntryPoint = "mprotect")]
    public static extern int MProtect(void* address, nuint length, int protection);

    [DllImport("libc", EntryPoint = "madvise")]
    public static extern int MAdvise(void* address, nuint length, int advice);

    [DllImport("libc", EntryPoint = "mincore")]
    public static extern int MInCore(void* address, nuint length, byte* resident);

    [DllImport("libc", EntryPoint = "malloc_trim")]
    public static extern int MallocTrim(nuint padding);

    /// <summary>Returns free memory of all of malloc's arenas to the system. Locks one arena after the other.</summary>
    /// <returns>False if the C library is not glibc.</returns>
#if NET
    // Asked first. If the function is missing, the call throws, in C++ too; and musl's process may end with SIGABRT if it exits meanwhile.
    public static bool TryTrimHeap() =>
        NativeLibrary.TryGetExport(NativeLibrary.GetMainProgramHandle(), "malloc_trim", out _) && MallocTrim(0) >= 0;
#else
    public static bool TryTrimHeap() => TryCall(static _ => MallocTrim(0) >= 0, 0);
#endif

    /// <summary>Returns the machine's memory as the kernel itself reports it; 0 if it does not.</summary>
    public static long ReadTotalMemory()
    {
        // In struct sysinfo: uptime, three loads, totalram; six words later mem_unit. The struct is shorter than 32 words.
        nuint* words = stackalloc nuint[32];
        return RuntimeInformation.IsOSPlatform(OSPlatform.Linux) && SysInfo(words) == 0 ? (long)words[4] * *(uint*)(words + 13) : 0;
    }

    /// <summary>Makes malloc map each allocation of at least that size by itself, so that freeing it unmaps it.</summary>
    /// <returns>False if the C library is not glibc, or refuses.</returns>
    public static bool TrySetMapThreshold(int bytes) => TryCall(static bytes => MallOpt(MapThreshold, bytes) == 1, bytes);

    /// <summary>Returns whether the process's malloc is glibc's, not that of a library loaded before it, such as jemalloc.</summary>
    public static bool IsMallocOfGlibc() => TryCall(
        static _ => DlOpen("libc.so.6", LoadedOnly) is not 0 and nint library && DlSym(library, "malloc") == DlSym(0, "malloc")
            && DlSym(library, "mallopt") != 0, 0); // musl takes the name for itself

#if !NET
    public const int OwnerReadsAndWrites = 0x180; // 0600

    [DllImport("libc", EntryPoint = "chmod", CharSet = CharSet.Ansi)]
    public static extern int ChangeMode(string path, int mode);
#endif

    // The offset is as wide as a pointer, except over musl in 32-bit processes: there it has 64 bits, and may begin one place later. The
    // zeros behind it make it 0 in each case, and the callee ignores arguments that it does not expect.
    [DllImport("libc", EntryPoint = "mmap")]
    private static extern void* MMap(
        void* address, nuint length, int protection, int flags, int file, nint offset, nint offsetOrPadding, nint restOfOffset);

    [DllImport("libc", EntryPoint = "sysinfo")]
    private static extern int SysInfo(nuint* words);

    [DllImport("libc", EntryPoint = "mallopt")]
    private static extern int MallOpt(int parameter, int value);

    [DllImport("libc", EntryPoint = "dlopen", CharSet = CharSet.Ansi)]
    private static extern nint DlOpen(string name, int flags);

    // The handle 0 is RTLD_DEFAULT: it finds what the process itself would call.
    [DllImport("libc", EntryPoint = "dlsym", CharSet = CharSet.Ansi)]
    private static extern nint DlSym(nint handle, string name);

    private static bool TryCall(Func<int, bool> call, int argument)
    {
        if (!RuntimeInformation.IsOSPlatform(OSPlatform.Linux))
        {
            return false;
        }

        try
        {
            return call(argument);
        }
        catch (Exception exception) when (exception is EntryPointNotFoundException or DllNotFoundException)
        {
            // musl and bionic have no such function; and glibc before 2.34 has dlopen in another library.
            return false;
        }
    }
}
