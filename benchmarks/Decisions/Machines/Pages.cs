using System;

namespace Decisions.Machines;

/// <summary>Writes to memory page by page.</summary>
internal static unsafe class Pages
{
    /// <summary>Writes one byte to each page. The first write makes a page resident.</summary>
    public static void Write(nint address, long lengthInBytes)
    {
        long pageSize = Environment.SystemPageSize;
        byte* end = (byte*)address + lengthInBytes;
        for (byte* page = (byte*)address; page < end; page += pageSize)
        {
            *page = 0xA5;
        }
    }

    /// <summary>Writes one byte to each page of a span.</summary>
    public static void Write(Span<byte> memory)
    {
        fixed (byte* start = memory)
        {
            Write((nint)start, memory.Length);
        }
    }
}
