namespace LoadResizeSave.Codecs.Png;

/// <summary>
/// PNG through the base library's zlib: every colour type and depth is read, row by row, into pixels of any layout. Interlaced files are
/// refused.
/// </summary>
internal sealed class PngCodec : IPictureCodec
{
    // Deflate cannot do better than 1032 : 1, so a short file that claims many pixels is found out from its header.
    private const long HighestCompression = 1032;

    // What zlib takes of its own: 32 KiB windows and tables, and the stream's buffers.
    private const long InflatingBytes = 128 * 1024;

    public string Extension => ".png";

    public bool NeedsContiguousPixels => false;

    public bool Recognizes(ReadOnlySpan<byte> file) => file.StartsWith(PngChunkReader.Signature);

    public PictureSize ReadSize(ReadOnlyMemory<byte> start)
    {
        PngHeader header = PngHeader.Read(new PngChunkReader(start));
        return new PictureSize(header.Width, header.Height);
    }

    public bool CouldHoldItsPixels(ReadOnlyMemory<byte> start, long fileLength)
    {
        PngHeader header = PngHeader.Read(new PngChunkReader(start), readsInterlaced: true);
        return (UInt128)header.RowBytes * (uint)header.Height / HighestCompression <= (ulong)fileLength;
    }

    public long EstimateDecoding(ReadOnlyMemory<byte> start, PixelStore store)
        => InflatingBytes + store.Estimate<byte>(PngRowReader.ScratchLength(PngHeader.Read(new PngChunkReader(start))));

    public long EstimateEncoding(PictureSize size, PixelStore store) => PngEncoder.Estimate(size.Width, store);

    public void Decode(ReadOnlyMemory<byte> file, Raster<Rgb24> picture, PixelStore store)
    {
        PngMetadata metadata = PngMetadata.Read(file);
        PngRowConverter converter = new(metadata);
        using PngRowReader reader = new(metadata, store);
        picture.ProcessRows(rows =>
        {
            for (int y = 0; y < rows.Height; y++)
            {
                converter.Convert(reader.ReadRow(), rows[y]);
            }
        });
        reader.Finish();
    }

    public void Encode(Raster<Rgb24> picture, Stream destination, PixelStore store) => PngEncoder.Encode(picture, destination, store);
}
