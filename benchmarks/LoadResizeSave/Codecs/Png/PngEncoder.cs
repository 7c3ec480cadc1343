using System.Buffers.Binary;
using System.IO.Compression;
using System.Runtime.InteropServices;

namespace LoadResizeSave.Codecs.Png;

/// <summary>Writes a PNG of 8-bit RGB, row by row.</summary>
internal static class PngEncoder
{
    // Below the default of 6: this program is about memory, and its time should not go into deflate.
    private const int CompressionLevel = 3;

    public static void Encode(Raster<Rgb24> picture, Stream destination, PixelStore store)
    {
        destination.Write(PngChunkReader.Signature);
        Span<byte> header = stackalloc byte[PngHeader.Length];
        header.Clear();
        BinaryPrimitives.WriteInt32BigEndian(header, picture.Width);
        BinaryPrimitives.WriteInt32BigEndian(header[4..], picture.Height);
        header[8] = 8;
        header[9] = (byte)PngColourType.Rgb;
        WriteChunk(destination, PngChunk.Header, header);
        using (ImageDataWriter chunks = new(destination, store))
        using (ZLibStream zlib = new(chunks, new ZLibCompressionOptions { CompressionLevel = CompressionLevel }, leaveOpen: true))
        using (PngFilterChooser filters = new(checked(picture.Width * Marshal.SizeOf<Rgb24>()), store))
        {
            picture.ProcessRows(rows => WriteRows(rows, filters, zlib));
        }

        WriteChunk(destination, PngChunk.End, []);
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

    private static void WriteRows(scoped PixelRows<Rgb24> rows, PngFilterChooser filters, ZLibStream zlib)
    {
        for (int y = 0; y < rows.Height; y++)
        {
            ReadOnlySpan<Rgb24> prior = y == 0 ? [] : rows[y - 1];
            zlib.Write(filters.Filter(MemoryMarshal.AsBytes<Rgb24>(rows[y]), MemoryMarshal.AsBytes(prior)));
        }
    }
}
