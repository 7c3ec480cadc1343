namespace Allocator.Native;

/// <summary>Works on unmanaged memory of any length; a span ends at 2 GiB.</summary>
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

    public static void Fill(nint address, long lengthInBytes, byte value)
    {
        for (long offset = 0; offset < lengthInBytes; offset += ChunkInBytes)
        {
            new Span<byte>((byte*)address + offset, (int)Math.Min(ChunkInBytes, lengthInBytes - offset)).Fill(value);
        }
    }

    /// <summary>Finds the first byte that is not <paramref name="value"/>. Returns -1 if there is none.</summary>
    public static long FindOther(nint address, long lengthInBytes, byte value)
    {
        for (long offset = 0; offset < lengthInBytes; offset += ChunkInBytes)
        {
            Span<byte> chunk = new((byte*)address + offset, (int)Math.Min(ChunkInBytes, lengthInBytes - offset));

            // All bytes are the same if the first is right and each equals its neighbour: a comparison that is fast on every runtime.
            if (chunk[0] != value || !chunk.Slice(1).SequenceEqual(chunk.Slice(0, chunk.Length - 1)))
            {
                while (((byte*)address)[offset] == value)
                {
                    offset++;
                }

                return offset;
            }
        }

        return -1;
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
