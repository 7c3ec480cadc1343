namespace LoadResizeSave.Codecs.Png;

/// <summary>The colour types of a PNG, by the numbers that its header holds.</summary>
internal enum PngColourType : byte
{
    Gray = 0,

    Rgb = 2,

    Palette = 3,

    GrayAlpha = 4,

    Rgba = 6,
}

/// <summary>The first chunk of a PNG, checked: what the rest of the file must contain follows from it.</summary>
internal readonly record struct PngHeader(int Width, int Height, int BitDepth, PngColourType ColourType)
{
    public const int Length = 13;

    public int Channels => ColourType switch
    {
        PngColourType.Gray or PngColourType.Palette => 1,
        PngColourType.GrayAlpha => 2,
        PngColourType.Rgb => 3,
        _ => 4,
    };

    /// <summary>Gets how far apart the bytes are that a filter compares: a pixel, and one byte where a pixel is less.</summary>
    public int FilterDistance => Math.Max(1, Channels * BitDepth / 8);

    /// <summary>Gets how many bytes a row takes, without its filter byte.</summary>
    public long RowBytes => (((long)Width * Channels * BitDepth) + 7) / 8;

    /// <param name="readsInterlaced">Whether interlaced files are read, which this program's own decoder refuses.</param>
    public static PngHeader Read(PngChunkReader chunks, bool readsInterlaced = false)
    {
        PngChunk first = chunks.Read();
        ReadOnlySpan<byte> data = first.Data.Span;
        if (first.Type != PngChunk.Header || data.Length != Length)
        {
            throw new UnreadablePictureException("there is no header");
        }

        uint width = BinaryPrimitives.ReadUInt32BigEndian(data);
        uint height = BinaryPrimitives.ReadUInt32BigEndian(data[4..]);
        if (width is 0 or > int.MaxValue || height is 0 or > int.MaxValue)
        {
            throw new UnreadablePictureException($"the header claims {width} x {height} pixels");
        }

        int depth = data[8];
        PngColourType type = (PngColourType)data[9];
        bool valid = type switch
        {
            PngColourType.Gray => depth is 1 or 2 or 4 or 8 or 16,
            PngColourType.Palette => depth is 1 or 2 or 4 or 8,
            PngColourType.Rgb or PngColourType.GrayAlpha or PngColourType.Rgba => depth is 8 or 16,
            _ => false,
        };
        if (!valid || data[10] != 0 || data[11] != 0)
        {
            throw new UnreadablePictureException($"colour type {data[9]} with {depth} bits, compression {data[10]}, filter method "
                + $"{data[11]}: not in the specification");
        }

        return data[12] == 0 || (data[12] == 1 && readsInterlaced)
            ? new PngHeader((int)width, (int)height, depth, type)
            : throw new UnreadablePictureException("it is interlaced, which this program does not read");
    }
}

/// <summary>All that a PNG says before its pixels; and where its pixels start.</summary>
/// <param name="Palette">The palette, three bytes an entry; empty where there is none.</param>
/// <param name="Transparency">The data of the transparency chunk; empty where there is none.</param>
/// <param name="Chunks">The reader, which stands behind the first chunk of pixels.</param>
internal sealed record PngMetadata(
    PngHeader Header, ReadOnlyMemory<byte> Palette, ReadOnlyMemory<byte> Transparency, PngChunkReader Chunks, PngChunk FirstImageData)
{
    public static PngMetadata Read(ReadOnlyMemory<byte> file)
    {
        PngChunkReader chunks = new(file);
        PngHeader header = PngHeader.Read(chunks);
        ReadOnlyMemory<byte> palette = default;
        ReadOnlyMemory<byte> transparency = default;
        while (true)
        {
            PngChunk chunk = chunks.Read();
            switch (chunk.Type)
            {
                case PngChunk.Palette when chunk.Data.Length is > 0 and <= 768 && chunk.Data.Length % 3 == 0:
                    palette = chunk.Data;
                    break;
                case PngChunk.Transparency when IsPossible(chunk.Data.Length, header, palette):
                    transparency = chunk.Data;
                    break;
                case PngChunk.ImageData when header.ColourType != PngColourType.Palette || !palette.IsEmpty:
                    return new PngMetadata(header, palette, transparency, chunks, chunk);
                default:
                    if (chunk.IsCritical || chunk.Type == PngChunk.Transparency)
                    {
                        throw new UnreadablePictureException("a chunk before the pixels is unknown, misplaced or of a wrong length");
                    }

                    break;
            }
        }
    }

    private static bool IsPossible(int length, PngHeader header, ReadOnlyMemory<byte> palette) => header.ColourType switch
    {
        PngColourType.Palette => length <= palette.Length / 3,
        PngColourType.Gray => length == 2,
        PngColourType.Rgb => length == 6,
        _ => false,
    };
}
