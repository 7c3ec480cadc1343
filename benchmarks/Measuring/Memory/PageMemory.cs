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

/// <summary>Makes memory resident, one write a page: memory that is never touched costs next to nothing anywhere.</summary>
public static unsafe class PageTouch
{
    private static readonly nint s_pageSize = Environment.SystemPageSize;

    /// <summary>
    /// Writes <paramref name="value"/> to the first byte of every page of <paramref name="bytes"/> bytes at <paramref name="address"/>.
    /// </summary>
    /// <remarks>
    /// Counted from the address, so that memory of several pages which does not begin on one is touched throughout as well.
    /// </remarks>
    [
        MethodImpl(MethodImplOptions.AggressiveOptimization),
    ] // Compiled well at its first call: this is timed, and in short runs nothing else would be.
    public static void Write(nint address, nint bytes, byte value = 1)
    {
        byte* memory = (byte*)address;
        for (nint offset = 0; offset < bytes; offset += s_pageSize)
        {
            memory[offset] = value;
        }

        if (bytes > 0)
        {
            memory[bytes - 1] = value;
        }
    }

    public static void Write(Span<byte> memory, byte value = 1)
    {
        fixed (byte* start = memory)
        {
            Write((nint)start, memory.Length, value);
        }
    }
}
