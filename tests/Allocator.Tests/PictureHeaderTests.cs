using System.Buffers.Binary;
using System.Diagnostics;
using CsCheck;

namespace Allocator.Tests;

public class PictureHeaderTests
{
    // Signature, lengths and fields as the formats' specifications have them.
    private static readonly byte[] s_png =
    [
        0x89, 0x50, 0x4E, 0x47, 13, 10, 26, 10, 0, 0, 0, 13, .. "IHDR"u8, 0, 0, 0x14, 0, 0, 0, 0x0B, 0x40, 8, 6, 0, 0, 0, 1, 2, 3, 4,
    ];

    private static readonly byte[] s_gif = [.. "GIF89a"u8, 0x90, 0x01, 0x2C, 0x01, 0, 0, 0];

    [Theory]
    [InlineData(0xC0, 3, false, 5120 * 2880 * 4)]
    [InlineData(0xC2, 1, true, (5120 * 2880 * 4) + (5120 * 2880 * 3))]
    [InlineData(0xC0, 1, true, (5120 * 2880 * 4) + (5120 * 2880 * 3))]
    public void TryRead_Jpeg_ExpectsCoefficientsOfSeveralScans(byte frame, byte inFirstScan, bool isProgressive, long expected)
    {
        byte[] file = Jpeg(frame, 5120, 2880, inFirstScan, orientation: 6);
        Assert.True(PictureHeader.TryRead(file, out PictureHeader header));
        Assert.Equal((PictureFormat.Jpeg, 5120, 2880, 6), (header.Format, header.Width, header.Height, header.Orientation));
        Assert.Equal((isProgressive, expected, false), (header.IsProgressive, header.ExpectedBytes, header.NeedsMoreBytes));
    }

    [Fact]
    public void TryRead_AnyBeginning_NeedsMoreBytesOrIsTheWholeHeader()
    {
        foreach (byte[] file in new[] { Jpeg(0xC2, 640, 480, 3, 8), s_png, s_gif, Lossy(), Lossless(), Extended(), Bmp(40), Bmp(12) })
        {
            Assert.True(PictureHeader.TryRead(file, out PictureHeader whole));
            for (int length = 0; length < file.Length; length++)
            {
                bool isRead = PictureHeader.TryRead(file.AsSpan(0, length), out PictureHeader header);
                bool isSame = (header.Width, header.Height) == (whole.Width, whole.Height);
                Assert.True(isRead ? isSame : header.NeedsMoreBytes, $"{whole}, {length}");
            }
        }
    }

    [Fact]
    public void TryRead_OtherFormats_ReadsTheirSizes()
    {
        Assert.Equal((PictureFormat.Png, 5120L, 2880L, false, false), Read(s_png));
        byte[] animated = [.. s_png, 0, 0, 0, 8, .. "acTL"u8, 0, 0, 0, 2, 0, 0, 0, 0, 1, 2, 3, 4, 0, 0, 0, 0, .. "IDAT"u8];
        animated[28] = 1;
        Assert.Equal((PictureFormat.Png, 5120L, 2880L, true, true), Read(animated));
        Assert.Equal((PictureFormat.Gif, 400L, 300L, false, true), Read(s_gif));

        // Decoders make the picture as large as its first frame, whatever the screen is said to be.
        byte[] lying =
        [
            .. "GIF89a"u8, 1, 0, 1, 0, 0x80, 0, 0, 1, 2, 3, 4, 5, 6,
            0x21, 0xF9, 4, 0, 0, 0, 0, 0, 0x2C, 10, 0, 20, 0, 0x30, 0x75, 0x20, 0x4E, 0,
        ];
        Assert.Equal((PictureFormat.Gif, 30_010L, 20_020L, false, true), Read(lying));
        Assert.Equal((PictureFormat.Gif, 1L, 1L, false, true), Read(lying[..^2]));
        Assert.Equal((PictureFormat.WebP, 550L, 368L, false, false), Read(Lossy()));
        Assert.Equal((PictureFormat.WebP, 16384L, 1L, false, false), Read(Lossless()));
        Assert.Equal((PictureFormat.WebP, 1L << 24, 2L, false, true), Read(Extended()));
        Assert.Equal((PictureFormat.Bmp, 70000L, 3L, false, false), Read(Bmp(40)));
        Assert.Equal((PictureFormat.Bmp, 100L, 200L, false, false), Read(Bmp(12)));

        static (PictureFormat Format, long Width, long Height, bool IsProgressive, bool IsAnimated) Read(byte[] file)
        {
            Assert.True(PictureHeader.TryRead(file, out PictureHeader header));
            return (header.Format, header.Width, header.Height, header.IsProgressive, header.IsAnimated);
        }
    }

    [Fact]
    public void TryRead_Apng_SaysHowManyFramesItAnnounces()
    {
        byte[] animated = [.. s_png, 0, 0, 0, 8, .. "acTL"u8, 0, 0, 1, 2, 0, 0, 0, 0, 1, 2, 3, 4, 0, 0, 0, 0, .. "IDAT"u8];
        Assert.True(PictureHeader.TryRead(animated, out PictureHeader header));
        Assert.Equal(258, header.AnnouncedFrames);
        Assert.True(PictureHeader.TryRead(animated.AsSpan(0, s_png.Length + 10), out header));
        Assert.Equal((0L, true), (header.AnnouncedFrames, header.IsAnimated));
        Assert.True(PictureHeader.TryRead(s_png, out header));
        Assert.Equal(0, header.AnnouncedFrames);
        Assert.True(PictureHeader.TryRead(s_gif, out header));
        Assert.Equal(0, header.AnnouncedFrames);
    }

    [Fact]
    public void TryRead_NoPictureOrADamagedOne_IsFalseAndNeedsNoMore()
    {
        byte[][] files =
        [
            [.. "%PDF-1.7"u8], [0x89, 0x50, 0x4E, 0x48, 13, 10, 26, 10, 0, 0, 0, 0], [.. "RIFF\0\0\0\0WAVE"u8, .. new byte[30]],
            [0xFF, 0xD8, 0xFF, 0xDA, 0, 3, 1], [.. "GIF89a"u8, 0, 0, 0, 0],

            // What Xcode makes of a PNG: another chunk stands where the size would be.
            [.. s_png.AsSpan(0, 8), 0, 0, 0, 4, .. "CgBI"u8, 0x50, 0, 0x20, 2, 1, 2, 3, 4, .. s_png.AsSpan(8)],
        ];
        foreach (byte[] file in files)
        {
            Assert.False(PictureHeader.TryRead(file, out PictureHeader header));
            Assert.Equal((false, 1L), (header.NeedsMoreBytes, header.ExpectedBytes));
        }
    }

    // 2^32 by 2^32 pixels: no product wraps.
    [Fact]
    public void ExpectedBytes_AbsurdSize_IsTheLargestNumber()
    {
        byte[] file = [.. s_png];
        file.AsSpan(16, 8).Fill(0xFF);
        Assert.True(PictureHeader.TryRead(file, out PictureHeader header));
        Assert.Equal(long.MaxValue, header.ExpectedBytes);
    }

    [Fact]
    public void TryRead_RandomBytesBehindEachSignature_NeverThrows() =>
        Gen.Byte.Array[0, 200].Sample(bytes =>
        {
            foreach (byte[] signature in new byte[][] { [0xFF, 0xD8], s_png, [.. "RIFF    WEBPVP8X"u8], [.. "BM"u8], [.. "GIF8"u8], [] })
            {
                PictureHeader.TryRead([.. signature, .. bytes], out PictureHeader header);
                Assert.True(header.ExpectedBytes >= 1);
            }
        });

    [Theory]
    [InlineData(8, 2, 3)]
    [InlineData(16, 6, 8)]
    [InlineData(1, 3, 1)]
    [InlineData(16, 0, 2)]
    public void DecoderBytes_InterlacedPng_IsItsSamples(byte depth, byte colourType, int bytesPerPixel)
    {
        byte[] file = [.. s_png];
        (file[24], file[25]) = (depth, colourType);
        Assert.Equal(0, DecoderBytes(file));
        file[28] = 1;
        Assert.Equal(5120 * 2880 * bytesPerPixel, DecoderBytes(file));
    }

    /// <summary>What libwebp took, in tenths of a byte for each of 200 pixels.</summary>
    [Theory]
    [InlineData("VP8 ", 0, 0, 0)]
    [InlineData("VP8L", 0, 0, 44)]
    [InlineData("ANMF", 0, 0, 63)]
    [InlineData("ALPH", 0, 0, 13)]
    [InlineData("ALPH", 1, 7, 31)]
    [InlineData("ALPH", 1, 6, 63)]
    public void DecoderBytes_ExtendedWebP_DependsOnTheFirstImageChunk(string chunk, byte first, byte second, int tenths)
    {
        // 20 x 10 pixels, and a profile of an odd length before them.
        byte[] head = [.. "RIFF    WEBP"u8, .. Chunk("VP8X", [0, 0, 0, 0, 19, 0, 0, 9, 0, 0]), .. Chunk("ICCP", [1, 2, 3]), 0];
        Assert.Equal(200 * tenths / 10, DecoderBytes([.. head, .. Chunk(chunk, [first, second])]));
    }

    [Fact]
    public void TryRead_JpegWithAPictureInItsMetadata_IsTheOuterOne()
    {
        byte[] inner = Jpeg(0xC0, 160, 120, 3, orientation: 3);
        byte[] outer = Jpeg(0xC2, 4000, 3000, 3, orientation: 6);
        byte[] file = [0xFF, 0xD8, 0xFF, 0xE1, 0, (byte)(inner.Length + 8), .. "Exif\0\0"u8, .. inner, .. outer.AsSpan(2)];

        Assert.True(PictureHeader.TryRead(file, out PictureHeader header));

        Assert.Equal((4000, 3000, 6, true), (header.Width, header.Height, header.Orientation, header.IsProgressive));
    }

    // As libjpeg reads it: what is no marker is skipped.
    [Fact]
    public void TryRead_BytesBetweenTheSegmentsOfAJpeg_AreSkipped()
    {
        byte[] file = [0xFF, 0xD8, 0xFF, 0x00, 0x12, 0xFF, 0xFF, .. Jpeg(0xC0, 640, 480, 3, orientation: 1).AsSpan(2)];
        Assert.True(PictureHeader.TryRead(file, out PictureHeader header));
        Assert.Equal((640, 480), (header.Width, header.Height));
    }

    // 52,000 of them in a mebibyte. Walking to the promised end of each took 1,000 times as long, 3 s.
    [Fact]
    public void TryRead_ExifDirectoriesThatPromiseMoreEntriesThanTheyHave_TakesNoLonger()
    {
        Assert.InRange(TimeToRead(promised: 0xFF), TimeSpan.Zero, TimeToRead(promised: 0) * 50);

        static TimeSpan TimeToRead(byte promised)
        {
            byte[] segment = [0xFF, 0xE1, 0, 18, .. "Exif\0\0MM\0*"u8, 0, 0, 0, 8, promised, promised];
            byte[] file = [0xFF, 0xD8, .. Enumerable.Repeat(segment, 52_000).SelectMany(static bytes => bytes)];
            return Enumerable.Range(0, 3).Min(_ =>
            {
                Stopwatch watch = Stopwatch.StartNew();
                Assert.False(PictureHeader.TryRead(file, out PictureHeader header));
                Assert.True(header.NeedsMoreBytes);
                return watch.Elapsed;
            });
        }
    }

    // The shortest picture there is, of 26 bytes.
    [Fact]
    public void TryRead_WholeLosslessWebPOf26Bytes_ReadsIt()
    {
        byte[] file = [.. "RIFF\x12\0\0\0WEBPVP8L\x06\0\0\0"u8, 0x2F, 0x41, 0x6C, 0x6F, 0, 0x6B];
        using MemoryStream stream = new(file);
        Assert.True(PictureHeader.TryRead(stream, out PictureHeader header));
        Assert.Equal((PictureFormat.WebP, 11330, 446), (header.Format, header.Width, header.Height));
    }

    [Fact]
    public void TryRead_JpegThatEndsBeforeItsPicture_IsDamaged()
    {
        Assert.False(PictureHeader.TryRead([0xFF, 0xD8, 0xFF, 0xD9, 0xFF, 0xFF, 0, 0], out PictureHeader header));
        Assert.Equal((PictureFormat.Jpeg, false), (header.Format, header.NeedsMoreBytes));
    }

    [Theory]
    [InlineData(0, true)]
    [InlineData(3, true)]
    [InlineData(16, false)]
    public void TryRead_StreamWithMetadata_IsReadUpToAMebibyteAndKeepsItsPosition(int segments, bool isRead)
    {
        byte[] segment = [0xFF, 0xE2, 0xFF, 0xFF, .. new byte[0xFFFD]];
        byte[] metadata = [.. Enumerable.Repeat(segment, segments).SelectMany(bytes => bytes)];
        byte[] file = [7, 0xFF, 0xD8, .. metadata, .. Jpeg(0xC0, 640, 480, 3, orientation: 1).AsSpan(2)];
        using MemoryStream stream = new(file) { Position = 1 };

        Assert.Equal(isRead, PictureHeader.TryRead(stream, out PictureHeader header));

        Assert.Equal(1, stream.Position);
        Assert.Equal((PictureFormat.Jpeg, !isRead, isRead ? 640 : 0), (header.Format, header.NeedsMoreBytes, header.Width));
    }

    [Fact]
    public void TryRead_StreamThatCannotSeek_ReadsItInItsOwnPieces()
    {
        using System.IO.Compression.DeflateStream stream = Compressed(Jpeg(0xC0, 640, 480, 3, orientation: 1));
        Assert.True(PictureHeader.TryRead(stream, out PictureHeader header));
        Assert.Equal(640, header.Width);
        using System.IO.Compression.DeflateStream cut = Compressed(Jpeg(0xC0, 640, 480, 3, orientation: 1)[..^1]);
        Assert.False(PictureHeader.TryRead(cut, out header));
        Assert.True(header.NeedsMoreBytes);

        static System.IO.Compression.DeflateStream Compressed(byte[] file)
        {
            MemoryStream memory = new();
            using (System.IO.Compression.DeflateStream to = new(memory, System.IO.Compression.CompressionLevel.Fastest, leaveOpen: true))
            {
                to.Write(file);
            }

            memory.Position = 0;
            return new System.IO.Compression.DeflateStream(memory, System.IO.Compression.CompressionMode.Decompress);
        }
    }

    private static long DecoderBytes(byte[] file)
    {
        Assert.True(PictureHeader.TryRead(file, out PictureHeader header));
        return header.DecoderBytes;
    }

    // Three components, the first sampled twice in each direction: six blocks of 64 coefficients for 256 pixels.
    private static byte[] Jpeg(byte frame, ushort width, ushort height, byte inFirstScan, byte orientation)
    {
        byte[] exif = [.. "Exif\0\0MM\0*"u8, 0, 0, 0, 8, 0, 1, 0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, orientation, 0, 0];
        byte[] size = new byte[4];
        BinaryPrimitives.WriteUInt16BigEndian(size, height);
        BinaryPrimitives.WriteUInt16BigEndian(size.AsSpan(2), width);
        return
        [
            0xFF, 0xD8, 0xFF, 0xE1, 0, (byte)(exif.Length + 2), .. exif, 0xFF, 0xFF, frame, 0, 17, 8, .. size, 3, 1, 0x22, 0, 2, 0x11, 1, 3,
            0x11, 1, 0xFF, 0xDA, 0, 3, inFirstScan,
        ];
    }

    private static byte[] Lossy() => [.. "RIFF    WEBPVP8 "u8, 0, 0, 0, 0, 0, 0, 0, 0x9D, 1, 0x2A, 0x26, 0x02, 0x70, 0x01];

    // Width less 1 in the lowest 14 bits.
    private static byte[] Lossless() => [.. "RIFF    WEBPVP8L"u8, 0, 0, 0, 0, 0x2F, 0xFF, 0x3F, 0, 0, .. new byte[5]];

    private static byte[] Extended() =>
        [.. "RIFF    WEBPVP8X"u8, 10, 0, 0, 0, 2, 0, 0, 0, 0xFF, 0xFF, 0xFF, 1, 0, 0, .. Chunk("ANIM", new byte[6]), .. Chunk("ANMF", [0, 0])];

    private static byte[] Chunk(string name, byte[] content) =>
        [.. System.Text.Encoding.ASCII.GetBytes(name), (byte)content.Length, 0, 0, 0, .. content];

    private static byte[] Bmp(byte headerSize) => headerSize == 12
        ? [.. "BM"u8, .. new byte[12], 12, 0, 0, 0, 100, 0, 200, 0, 1, 0, 24, 0]
        : [.. "BM"u8, .. new byte[12], 40, 0, 0, 0, 0x70, 0x11, 1, 0, 0xFD, 0xFF, 0xFF, 0xFF];
}
