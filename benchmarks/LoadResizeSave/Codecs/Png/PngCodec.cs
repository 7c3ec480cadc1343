using System.Buffers;
using System.Runtime.InteropServices;

namespace LoadResizeSave.Codecs.Png;

/// <summary>
/// PNG through the base library's zlib: every colour type, depth and interlacing is read, row by row, into pixels of any layout.
/// </summary>
internal sealed class PngCodec : IPictureCodec
{
    // Deflate cannot do better than 1032 : 1, so a short file that claims many pixels is found out from its header.
    private const long HighestCompression = 1032;

    // What zlib takes of its own: 32 KiB windows and tables to inflate, four times that to deflate, and the stream's buffers.
    private const long InflatingBytes = 128 * 1024;
    private const long DeflatingBytes = 512 * 1024;

    public string Extension => ".png";

    public bool NeedsContiguousPixels => false;

    public bool Recognizes(ReadOnlySpan<byte> file) => file.StartsWith(PngChunkReader.Signature);

    public PictureSize ReadSize(ReadOnlyMemory<byte> start)
    {
        PngHeader header = PngMetadata.ReadHeader(new PngChunkReader(start));
        return new PictureSize(header.Width, header.Height);
    }

    public bool CouldHoldItsPixels(ReadOnlyMemory<byte> start, long fileLength)
    {
        PngHeader header = PngMetadata.ReadHeader(new PngChunkReader(start));
        UInt128 bytes = (UInt128)header.RowBytes(header.Width) * (uint)header.Height;
        return bytes / HighestCompression <= (ulong)fileLength;
    }

    public long EstimateDecoding(ReadOnlyMemory<byte> start, PixelStore store)
    {
        PngHeader header = PngMetadata.ReadHeader(new PngChunkReader(start));
        long scratch = header.Interlaced ? store.Estimate<Rgb24>(header.Width) : 0;
        return InflatingBytes + store.Estimate<byte>(PngRowReader.ScratchLength(header)) + scratch;
    }

    public long EstimateEncoding(PictureSize size, PixelStore store)
        => DeflatingBytes + store.Estimate<byte>(ImageDataWriter.ChunkLength) + store.Estimate<byte>(PngFilterChooser.ScratchLength(size.Width * Marshal.SizeOf<Rgb24>()));

    public void Decode(ReadOnlyMemory<byte> file, Raster<Rgb24> picture, PixelStore store)
    {
        PngMetadata metadata = PngMetadata.Read(file);
        PngRowConverter converter = new(metadata);
        using PngRowReader reader = new(metadata, store);
        if (metadata.Header.Interlaced)
        {
            using IMemoryOwner<byte> scratch = store.Allocate<byte>(checked(picture.Width * Marshal.SizeOf<Rgb24>()));
            picture.ProcessRows(rows => DecodePasses(reader, converter, rows, MemoryMarshal.Cast<byte, Rgb24>(scratch.Memory.Span)));
        }
        else
        {
            picture.ProcessRows(rows => DecodeRows(reader, converter, rows));
        }

        reader.Finish();
    }

    public void Encode(Raster<Rgb24> picture, Stream destination, PixelStore store) => PngEncoder.Encode(picture, destination, store);

    private static void DecodeRows(PngRowReader reader, PngRowConverter converter, scoped PixelRows<Rgb24> rows)
    {
        reader.StartPass();
        for (int y = 0; y < rows.Height; y++)
        {
            converter.Convert(reader.ReadRow(rows.Width), rows[y]);
        }
    }

    private static void DecodePasses(PngRowReader reader, PngRowConverter converter, scoped PixelRows<Rgb24> rows, Span<Rgb24> scratch)
    {
        foreach (Adam7Pass pass in Adam7Pass.All)
        {
            Span<Rgb24> pixels = scratch[..pass.Columns(rows.Width)];
            if (pixels.IsEmpty)
            {
                continue;
            }

            reader.StartPass();
            for (int i = 0; i < pass.Rows(rows.Height); i++)
            {
                converter.Convert(reader.ReadRow(pixels.Length), pixels);
                Span<Rgb24> row = rows[pass.Top + (i * pass.StepY)];
                for (int x = 0; x < pixels.Length; x++)
                {
                    row[pass.Left + (x * pass.StepX)] = pixels[x];
                }
            }
        }
    }
}
