using System;
using System.IO;
using System.Runtime.InteropServices;
using Microsoft.Win32.SafeHandles;

namespace PageAlignedTransfer.Files;

/// <summary>Finds out which addresses a file's direct reads accept. The system's documentation leaves it to kernel, file system and device.</summary>
internal static unsafe class AlignmentProbe
{
    private const int ReadBytes = 64 << 10;

    /// <summary>Returns the smallest power of two, in bytes, on whose multiples a read into memory succeeds; a page's size where no smaller one does.</summary>
    public static int FindLeast(SafeFileHandle handle)
    {
        int page = Environment.SystemPageSize;
        byte* memory = (byte*)NativeMemory.AlignedAlloc(ReadBytes + (nuint)page, (nuint)page);
        try
        {
            int least = page;
            while (least > 1 && Accepts(handle, memory + (least / 2)))
            {
                least /= 2;
            }

            return least;
        }
        finally
        {
            NativeMemory.AlignedFree(memory);
        }
    }

    private static bool Accepts(SafeFileHandle handle, byte* address)
    {
        try
        {
            return RandomAccess.Read(handle, new Span<byte>(address, ReadBytes), 0) == ReadBytes;
        }
        catch (Exception exception) when (exception is IOException or ArgumentException)
        {
            return false;
        }
    }
}
