namespace LoadResizeSave.Codecs.Png;

/// <summary>All that a PNG says before its pixels: header, palette, transparency; and where its pixels start.</summary>
internal sealed class PngMetadata(
    PngHeader header, ReadOnlyMemory<byte> palette, ReadOnlyMemory<byte> transparency, PngChunkReader chunks, PngChunk firstImageData)
{
    public PngHeader Header { get; } = header;

    /// <summary>Gets the palette, three bytes an entry; empty where there is none.</summary>
    public ReadOnlyMemory<byte> Palette { get; } = palette;

    /// <summary>Gets the data of the transparency chunk; empty where there is none.</summary>
    public ReadOnlyMemory<byte> Transparency { get; } = transparency;

    /// <summary>Gets the reader, which stands behind the first chunk of pixels.</summary>
    public PngChunkReader Chunks { get; } = chunks;

    public PngChunk FirstImageData { get; } = firstImageData;

    public static PngHeader ReadHeader(PngChunkReader chunks)
    {
        PngChunk first = chunks.Read();
        return first.Type == PngChunk.Header
            ? PngHeader.Parse(first.Data.Span)
            : throw new UnreadablePictureException($"starts with chunk {first.Name} instead of IHDR");
    }

    /// <exception cref="UnreadablePictureException">Something is missing, misplaced or of a wrong length.</exception>
    public static PngMetadata Read(ReadOnlyMemory<byte> file)
    {
        PngChunkReader chunks = new(file);
        PngHeader header = ReadHeader(chunks);
        ReadOnlyMemory<byte> palette = default;
        ReadOnlyMemory<byte> transparency = default;
        while (true)
        {
            PngChunk chunk = chunks.Read();
            switch (chunk.Type)
            {
                case PngChunk.Palette:
                    palette = RequirePalette(chunk.Data);
                    break;
                case PngChunk.Transparency:
                    transparency = RequireTransparency(chunk.Data, header, palette);
                    break;
                case PngChunk.ImageData when header.ColourType == PngColourType.Palette && palette.IsEmpty:
                    throw new UnreadablePictureException("the palette is missing");
                case PngChunk.ImageData:
                    return new PngMetadata(header, palette, transparency, chunks, chunk);
                case PngChunk.End:
                    throw new UnreadablePictureException("there are no pixels");
                default:
                    if (chunk.IsCritical)
                    {
                        throw new UnreadablePictureException($"chunk {chunk.Name} is unknown or misplaced");
                    }

                    break;
            }
        }
    }

    private static ReadOnlyMemory<byte> RequirePalette(ReadOnlyMemory<byte> data)
        => data.Length is > 0 and <= 768 && data.Length % 3 == 0
            ? data
            : throw new UnreadablePictureException($"a palette of {data.Length} bytes is not possible");

    private static ReadOnlyMemory<byte> RequireTransparency(ReadOnlyMemory<byte> data, PngHeader header, ReadOnlyMemory<byte> palette)
    {
        bool valid = header.ColourType switch
        {
            PngColourType.Palette => data.Length <= palette.Length / 3,
            PngColourType.Gray => data.Length == 2,
            PngColourType.Rgb => data.Length == 6,
            _ => false,
        };
        return valid ? data : throw new UnreadablePictureException($"{data.Length} bytes of transparency do not fit the colour type");
    }
}
