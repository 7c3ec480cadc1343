using System.Buffers.Binary;

namespace Allocator.SkiaSharp.Tests;

/// <summary>The library's reader of headers beside Skia's codecs, with real files.</summary>
public class PictureHeaderTests
{
    public static TheoryData<string> Names() => [.. Files().Keys.Order(StringComparer.Ordinal)];

    [Theory]
    [MemberData(nameof(Names))]
    public void TryRead_AFile_IsWhatSkiaReads(string name)
    {
        byte[] file = Files()[name];
        using SKCodec codec = SKCodec.Create(new SKMemoryStream(file));

        Assert.True(PictureHeader.TryRead(file, out PictureHeader header));

        Assert.Equal(codec.EncodedFormat.ToString(), header.Format.ToString(), ignoreCase: true);
        Assert.Equal((codec.Info.Width, codec.Info.Height), (header.Width, header.Height));
        if (header.Format == PictureFormat.Jpeg)
        {
            Assert.Equal((int)codec.EncodedOrigin, header.Orientation);
        }

        Assert.Equal(name is "animated.webp" or "animated.png" || header.Format == PictureFormat.Gif, header.IsAnimated);
        Assert.Equal(name.Contains("progressive") || name is "three-scans.jpg" or "interlaced.png", header.IsProgressive);
        Assert.True(codec.FrameCount <= 1 || header.IsAnimated);
    }

    [Theory]
    [MemberData(nameof(Names))]
    public void TryRead_CutOffOrChangedFile_IsTheSameOrFalseAndNeverThrows(string name)
    {
        byte[] file = Files()[name];
        Assert.True(PictureHeader.TryRead(file, out PictureHeader whole));
        for (int length = 0; length < file.Length; length += length < 2000 ? 1 : 997)
        {
            bool isRead = PictureHeader.TryRead(file.AsSpan(0, length), out PictureHeader header);
            bool isSame = (header.Width, header.Height, header.ExpectedBytes, header.Orientation)
                == (whole.Width, whole.Height, whole.ExpectedBytes, whole.Orientation);
            Assert.True(isRead ? isSame : header.NeedsMoreBytes, $"{length}: {header}");
        }

        Random random = new(name.Length);
        byte[] changed = new byte[Math.Min(file.Length, 2000)];
        for (int i = 0; i < 20_000; i++)
        {
            file.AsSpan(0, changed.Length).CopyTo(changed);
            for (int change = random.Next(1, 5); change > 0; change--)
            {
                changed[random.Next(i % 2 == 0 ? Math.Min(64, changed.Length) : changed.Length)] = (byte)random.Next(256);
            }

            _ = PictureHeader.TryRead(changed.AsSpan(0, random.Next(changed.Length + 1)), out PictureHeader header);
            Assert.True(header is { ExpectedBytes: >= 1, DecoderBytes: >= 0, Orientation: >= 0 and <= 8 }, $"{i}");
        }
    }

    private static Dictionary<string, byte[]> Files()
    {
        Dictionary<string, byte[]> files = Picture.Names.ToDictionary(name => name, Picture.Read);
        byte[] jpeg = files["progressive-420.jpg"];
        for (int origin = 1; origin <= 8; origin++)
        {
            files[$"oriented-{origin}-progressive.jpg"] = Picture.Oriented(jpeg, (SKEncodedOrigin)origin);
        }

        files["filled-progressive.jpg"] = Filled(jpeg);
        files["thumbnail-progressive.jpg"] = WithThumbnail(jpeg);
        files["animated.webp"] = DecodeOptionsTests.AnimatedWebP();
        files["animated.png"] = WithAnimation(files["alpha.png"]);
        files["oriented.webp"] = Picture.OrientedWebP(files["lossy.webp"], SKEncodedOrigin.RightTop);
        files["top-down.bmp"] = TopDown(files["rgb.bmp"]);
        files["oldest.bmp"] = [.. "BM"u8, 46, 0, 0, 0, 0, 0, 0, 0, 26, 0, 0, 0, 12, 0, 0, 0, 3, 0, 2, 0, 1, 0, 24, 0, .. new byte[24]];
        return files;
    }

    // Each marker before the first scan gets bytes in front of it.
    private static byte[] Filled(byte[] jpeg)
    {
        List<byte> file = [0xFF, 0xD8];
        int i = 2;
        for (byte marker = 0; marker != 0xDA; i += 2 + BinaryPrimitives.ReadUInt16BigEndian(jpeg.AsSpan(i + 2)))
        {
            marker = jpeg[i + 1];
            file.AddRange([0xFF, 0xFF, 0xFF, .. jpeg.AsSpan(i, 2 + BinaryPrimitives.ReadUInt16BigEndian(jpeg.AsSpan(i + 2)))]);
        }

        return [.. file, .. jpeg.AsSpan(i)];
    }

    // APP1 with a whole JPEG behind an empty directory.
    private static byte[] WithThumbnail(byte[] jpeg)
    {
        byte[] small = Picture.Encode(SKEncodedImageFormat.Jpeg, 50, SKAlphaType.Opaque, width: 160, height: 120);
        byte[] exif = [.. "Exif\0\0MM\0*"u8, 0, 0, 0, 8, 0, 0, 0, 0, 0, 0, .. small];
        byte[] length = new byte[2];
        BinaryPrimitives.WriteUInt16BigEndian(length, (ushort)(exif.Length + 2));
        return [0xFF, 0xD8, 0xFF, 0xE1, .. length, .. exif, .. jpeg.AsSpan(2)];
    }

    // Behind IHDR: the number of frames, here one, and of repetitions. The sum was computed by zlib.
    private static byte[] WithAnimation(byte[] png) =>
        [.. png.AsSpan(0, 33), 0, 0, 0, 8, .. "acTL"u8, 0, 0, 0, 1, 0, 0, 0, 0, 0xB4, 0x2D, 0xE9, 0xA0, .. png.AsSpan(33)];

    private static byte[] TopDown(byte[] bmp)
    {
        byte[] file = [.. bmp];
        BinaryPrimitives.WriteInt32LittleEndian(file.AsSpan(22), -Picture.Height);
        return file;
    }
}
