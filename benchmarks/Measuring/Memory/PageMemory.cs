using System;
using System.Runtime.InteropServices;

namespace Measuring.Memory;

/// <summary>Memory straight from the operating system, in whole pages: <c>mmap</c>, or <c>VirtualAlloc</c> on Windows.</summary>
public static partial class PageMemory
{
    private const int ReadWrite = 1 | 2;
    private const int MapPrivate = 2;

    private const uint CommitAndReserve = 0x1000 | 0x2000;
    private const uint Release = 0x8000;
    private const uint PageReadWrite = 4;

    private static readonly int s_mapAnonymous = OperatingSystem.IsMacOS() ? 0x1000 : 0x20;

    public static string CallName => OperatingSystem.IsWindows() ? "VirtualAlloc" : "mmap";

    /// <summary>Allocates <paramref name="bytes"/> zeroed bytes, which begin on a page; nothing of them is resident.</summary>
    /// <exception cref="OutOfMemoryException">The system refused.</exception>
    public static nint Allocate(nint bytes)
    {
        nint address = OperatingSystem.IsWindows()
            ? VirtualAlloc(0, (nuint)bytes, CommitAndReserve, PageReadWrite)
            : MemoryMap(0, (nuint)bytes, ReadWrite, MapPrivate | s_mapAnonymous, -1, 0);
        return address is not 0 and not -1
            ? address
            : throw new OutOfMemoryException($"{CallName} refused {bytes} bytes: {Marshal.GetLastPInvokeErrorMessage()}");
    }

    public static void Free(nint address, nint bytes)
    {
        bool done = OperatingSystem.IsWindows() ? VirtualFree(address, 0, Release) : MemoryUnmap(address, (nuint)bytes) == 0;
        if (!done)
        {
            throw new InvalidOperationException($"{bytes} bytes at {address:x} were not taken back: "
                + $"{Marshal.GetLastPInvokeErrorMessage()}");
        }
    }

    [LibraryImport("libc", EntryPoint = "mmap", SetLastError = true)]
    private static partial nint MemoryMap(nint address, nuint length, int protection, int flags, int file, nint offset);

    [LibraryImport("libc", EntryPoint = "munmap", SetLastError = true)]
    private static partial int MemoryUnmap(nint address, nuint length);

    [LibraryImport("kernel32", SetLastError = true)]
    private static partial nint VirtualAlloc(nint address, nuint size, uint type, uint protection);

    [LibraryImport("kernel32", SetLastError = true)]
    [return: MarshalAs(UnmanagedType.Bool)]
    private static partial bool VirtualFree(nint address, nuint size, uint type);
}
