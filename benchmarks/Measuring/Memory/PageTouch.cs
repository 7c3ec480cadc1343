using System;
using System.Runtime.CompilerServices;

namespace Measuring.Memory;

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
    [MethodImpl(MethodImplOptions.AggressiveOptimization)] // Compiled well at its first call: this is timed, and in short runs nothing else would be.
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
