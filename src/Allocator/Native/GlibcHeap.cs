using System;
using System.Runtime.InteropServices;

namespace Allocator.Native;

/// <summary>
/// The calls of glibc that decide what <c>malloc</c> keeps of freed memory. Other C libraries lack them: every call then returns false.
/// </summary>
internal static class GlibcHeap
{
    /// <summary>M_MMAP_THRESHOLD of <c>malloc.h</c>.</summary>
    private const int MapThreshold = -3;

    /// <summary>
    /// Gets the largest threshold that glibc takes: HEAP_MAX_SIZE / 2, 32 MiB in 64-bit processes and 512 KiB in others.
    /// </summary>
    public static int LargestMapThreshold => IntPtr.Size == sizeof(long) ? 32 * 1024 * 1024 : 512 * 1024;

    /// <summary>Returns free memory of all of malloc's arenas to the system. Locks one arena after the other.</summary>
    /// <returns>False where the C library has no such call.</returns>
    public static bool TryTrim() => TryCall(static _ => LibC.MallocTrim(0) >= 0, 0);

    /// <summary>Has malloc map each allocation from that size on by itself, so that freeing it unmaps it.</summary>
    /// <returns>False where the C library has no such call, or refuses.</returns>
    public static bool TrySetMapThreshold(int bytes) => TryCall(static bytes => LibC.MallOpt(MapThreshold, bytes) == 1, bytes);

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
            // musl and bionic.
            return false;
        }
    }
}
