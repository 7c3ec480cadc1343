namespace LoadResizeSave.Codecs.Png;

/// <summary>
/// Writes a PNG of 8-bit RGB, row by row: each with that of the four filters that suit photographs whose sum of absolute differences is
/// smallest.
/// </summary>
internal static class PngEncoder
{
    // Below the default of 6: this program is about memory, and its time should not go into deflate.
    private const int CompressionLevel = 3;
    private const int Distance = 3;
    private const int ChunkLength = 64 * 1024;

    // What zlib takes of its own to deflate, and the stream's buffers.
    private const long DeflatingBytes = 512 * 1024;

    public static long Estimate(int width, PixelStore store)
        => DeflatingBytes + store.Estimate<byte>(ChunkLength) + store.Estimate<byte>(ScratchLength(width));

    public static void Encode(Raster<Rgb24> picture, Stream destination, PixelStore store)
    {
        WriteHeader(destination, picture.Width, picture.Height);
        using (ImageDataWriter chunks = new(destination, store))
        using (ZLibStream zlib = new(chunks, new ZLibCompressionOptions { CompressionLevel = CompressionLevel }, leaveOpen: true))
        using (IMemoryOwner<byte> scratch = store.Allocate<byte>(ScratchLength(picture.Width)))
        {
            picture.ProcessRows(rows => WriteRows(rows, scratch.Memory.Span, zlib));
        }

        WriteChunk(destination, PngChunk.End, []);
    }

    public static void WriteHeader(Stream destination, int width, int height)
    {
        destination.Write(PngChunkReader.Signature);
        Span<byte> header = stackalloc byte[PngHeader.Length];
        header.Clear();
        BinaryPrimitives.WriteInt32BigEndian(header, width);
        BinaryPrimitives.WriteInt32BigEndian(header[4..], height);
        header[8] = 8;
        header[9] = (byte)PngColourType.Rgb;
        WriteChunk(destination, PngChunk.Header, header);
    }

    public static void WriteChunk(Stream destination, uint type, ReadOnlySpan<byte> data)
    {
        Span<byte> number = stackalloc byte[8];
        BinaryPrimitives.WriteInt32BigEndian(number, data.Length);
        BinaryPrimitives.WriteUInt32BigEndian(number[4..], type);
        destination.Write(number);
        destination.Write(data);
        uint crc = Crc32.Append(Crc32.Append(0, number[4..]), data);
        BinaryPrimitives.WriteUInt32BigEndian(number, crc);
        destination.Write(number[..4]);
    }

    // Two filtered rows, each behind the number of its filter.
    private static int ScratchLength(int width) => checked(2 * ((width * Distance) + 1));

    private static void WriteRows(scoped PixelRows<Rgb24> rows, Span<byte> scratch, ZLibStream zlib)
    {
        Span<byte> best = scratch[..(scratch.Length / 2)];
        Span<byte> candidate = scratch[best.Length..];
        for (int y = 0; y < rows.Height; y++)
        {
            ReadOnlySpan<byte> row = MemoryMarshal.AsBytes(rows[y]);
            ReadOnlySpan<byte> prior = y == 0 ? row : MemoryMarshal.AsBytes(rows[y - 1]);
            long smallest = PngFilters.Apply<PngFilters.Sub>(row, prior, Distance, best);
            for (int filter = 2; filter <= 4 && y > 0; filter++)
            {
                long sum = filter switch
                {
                    2 => PngFilters.Apply<PngFilters.Up>(row, prior, Distance, candidate),
                    3 => PngFilters.Apply<PngFilters.Average>(row, prior, Distance, candidate),
                    _ => PngFilters.Apply<PngFilters.Paeth>(row, prior, Distance, candidate),
                };
                if (sum < smallest)
                {
                    smallest = sum;
                    Span<byte> other = best;
                    best = candidate;
                    candidate = other;
                }
            }

            zlib.Write(best);
        }
    }

    /// <summary>Cuts the compressed stream into chunks, each of which is written when it is full, not when it is flushed.</summary>
    private sealed class ImageDataWriter(Stream destination, PixelStore store) : WriteOnlyStream
    {
        private readonly IMemoryOwner<byte> _chunk = store.Allocate<byte>(ChunkLength);
        private int _length;

        public override void Write(ReadOnlySpan<byte> buffer)
        {
            while (!buffer.IsEmpty)
            {
                int count = Math.Min(buffer.Length, ChunkLength - _length);
                buffer[..count].CopyTo(_chunk.Memory.Span[_length..]);
                _length += count;
                buffer = buffer[count..];
                if (_length == ChunkLength)
                {
                    WriteChunk();
                }
            }
        }

        protected override void Dispose(bool disposing)
        {
            if (disposing)
            {
                WriteChunk();
                _chunk.Dispose();
            }

            base.Dispose(disposing);
        }

        private void WriteChunk()
        {
            if (_length > 0)
            {
                PngEncoder.WriteChunk(destination, PngChunk.ImageData, _chunk.Memory.Span[.._length]);
                _length = 0;
            }
        }
    }
}
