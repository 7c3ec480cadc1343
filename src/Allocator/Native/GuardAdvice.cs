using System;
using System.Runtime.InteropServices;

namespace Allocator.Native;

/// <summary>
/// <c>MADV_GUARD_INSTALL</c> of Linux 6.13 and later: takes the memory behind a range and makes every access to it fault, without dividing the mapping
/// as <c>mprotect</c> does, of which a process may have 65,530 pieces.
/// </summary>
internal static unsafe class GuardAdvice
{
    /// <summary>MADV_GUARD_INSTALL.</summary>
    public const int Install = 102;

    /// <summary>Gets whether the running kernel knows it: tried once, on a page of its own.</summary>
    public static bool IsSupported { get; } = RuntimeInformation.IsOSPlatform(OSPlatform.Linux) && Try();

    private static bool Try()
    {
        nuint length = (nuint)Environment.SystemPageSize;
        void* page = LibC.MMap(null, length, UnixConstants.ProtectReadWrite, UnixConstants.OfThisSystem().MapFlags, -1, 0);
        if (page == UnixConstants.MapFailed)
        {
            return false;
        }

        bool isSupported = LibC.MAdvise(page, length, Install) == 0;

        // One page, once a process: nothing is lost where it stays mapped.
        LibC.MUnmap(page, length);
        return isSupported;
    }
}
