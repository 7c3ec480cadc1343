using System.IO.Compression;

namespace ThumbnailService.Loading;

/// <summary>Files of some kilobytes that promise, or unpack to, gigabytes of pixels.</summary>
internal static class Bombs
{
    private const int LongestJpegSide = 65_500;
    private const int JxlSide = 9_000;
    private const int FlatSide = 40_000;

    /// <summary>Makes them; <paramref name="jpeg"/> is a small JPEG, whose header is changed.</summary>
    public static IReadOnlyList<UploadFile> Make(byte[]? jpeg) =>
    [
        new("promise.png", Png(100_000, isWhole: false)),
        new("flat.png", Png(FlatSide, isWhole: true)),
        new("promise.jxl", Jxl(JxlSide)),
        .. jpeg is null ? Array.Empty<UploadFile>() : [new("promise.jpg", Jpeg(jpeg))],
    ];

    // One bit a pixel, all of them 0: deflate packs a thousand bytes into one. Whole, it holds all the pixels that it promises.
    private static byte[] Png(int side, bool isWhole)
    {
        using MemoryStream file = new();
        file.Write(PngChunkReader.Signature);
        byte[] header = new byte[PngHeader.Length];
        BinaryPrimitives.WriteInt32BigEndian(header, side);
        BinaryPrimitives.WriteInt32BigEndian(header.AsSpan(4), side);
        header[8] = 1;
        PngEncoder.WriteChunk(file, PngChunk.Header, header);
        using MemoryStream packed = new();
        using (ZLibStream zlib = new(packed, CompressionLevel.Optimal, leaveOpen: true))
        {
            byte[] row = new byte[1 + (side / 8)];
            for (int y = 0; y < (isWhole ? side : 1); y++)
            {
                zlib.Write(row);
            }
        }

        PngEncoder.WriteChunk(file, PngChunk.ImageData, packed.ToArray());
        PngEncoder.WriteChunk(file, PngChunk.End, []);
        return file.ToArray();
    }

    // The frame's height and width stand behind its marker, length and precision.
    private static byte[] Jpeg(byte[] small)
    {
        byte[] file = [.. small];
        int frame = file.AsSpan().IndexOf((ReadOnlySpan<byte>)[0xFF, 0xC0]);
        BinaryPrimitives.WriteUInt16BigEndian(file.AsSpan(frame + 5), LongestJpegSide);
        BinaryPrimitives.WriteUInt16BigEndian(file.AsSpan(frame + 7), LongestJpegSide);
        return file;
    }

    // ISO 18181-1: after the signature, bits from the lowest of each byte on. Sides that are no multiples of 8, in 18 bits each; no ratio;
    // all metadata as usual.
    private static byte[] Jxl(int side)
    {
        UInt128 bits = 0;
        int count = 0;
        void Add(uint value, int length)
        {
            bits |= (UInt128)value << count;
            count += length;
        }

        Add(0, 1);
        Add(2, 2);
        Add((uint)side - 1, 18);
        Add(0, 3);
        Add(2, 2);
        Add((uint)side - 1, 18);
        Add(1, 1);
        Add(1, 1);
        byte[] file = new byte[64];
        (file[0], file[1]) = (0xFF, 0x0A);
        BinaryPrimitives.WriteUInt128LittleEndian(file.AsSpan(2), bits);
        return file;
    }
}
