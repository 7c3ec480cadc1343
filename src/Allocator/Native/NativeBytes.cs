using System;

namespace Allocator.Native;

/// <summary>Works on unmanaged memory of any length, where a span ends at 2 GiB.</summary>
internal static unsafe class NativeBytes
{
    private const int ChunkInBytes = 1 << 30;

    public static void Clear(nint address, long lengthInBytes)
    {
        for (long offset = 0; offset < lengthInBytes; offset += ChunkInBytes)
        {
            new Span<byte>((byte*)address + offset, (int)Math.Min(ChunkInBytes, lengthInBytes - offset)).Clear();
        }
    }

    /// <summary>Writes to every page, so that it becomes resident. Contents stay.</summary>
    public static void Touch(nint address, long lengthInBytes)
    {
        for (long offset = 0; offset < lengthInBytes; offset += Environment.SystemPageSize)
        {
            byte* page = (byte*)address + offset;
            *page = *page;
        }
    }
}
