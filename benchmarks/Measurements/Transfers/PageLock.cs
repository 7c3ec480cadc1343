using System.ComponentModel;
using System.Runtime.InteropServices;

namespace Measurements.Transfers;

/// <summary>
/// Locks memory, so that it stays where it is: what every registration with a device does, and the part of it that needs none.
/// </summary>
internal static partial class PageLock
{
    public static string CallName => OperatingSystem.IsWindows() ? "VirtualLock" : "mlock";

    /// <exception cref="Win32Exception">The system refused: of locked memory there may be little (RLIMIT_MEMLOCK).</exception>
    public static void Lock(nint address, long bytes)
    {
        if (!(OperatingSystem.IsWindows() ? VirtualLock(address, (nuint)bytes) : MemoryLock(address, (nuint)bytes) == 0))
        {
            throw new Win32Exception(Marshal.GetLastPInvokeError(), $"{CallName} of {bytes} bytes: {Marshal.GetLastPInvokeErrorMessage()}");
        }
    }

    /// <exception cref="Win32Exception">It was not locked.</exception>
    public static void Unlock(nint address, long bytes)
    {
        if (!(OperatingSystem.IsWindows() ? VirtualUnlock(address, (nuint)bytes) : MemoryUnlock(address, (nuint)bytes) == 0))
        {
            throw new Win32Exception(Marshal.GetLastPInvokeError(), $"The end of {CallName} of {bytes} bytes: "
                + $"{Marshal.GetLastPInvokeErrorMessage()}");
        }
    }

    [LibraryImport("libc", EntryPoint = "mlock", SetLastError = true)]
    private static partial int MemoryLock(nint address, nuint length);

    [LibraryImport("libc", EntryPoint = "munlock", SetLastError = true)]
    private static partial int MemoryUnlock(nint address, nuint length);

    [LibraryImport("kernel32", SetLastError = true)]
    [return: MarshalAs(UnmanagedType.Bool)]
    private static partial bool VirtualLock(nint address, nuint size);

    [LibraryImport("kernel32", SetLastError = true)]
    [return: MarshalAs(UnmanagedType.Bool)]
    private static partial bool VirtualUnlock(nint address, nuint size);
}
