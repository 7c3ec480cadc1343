using System.Buffers.Binary;
using System.Runtime.InteropServices;

namespace Allocator.SkiaSharp.Tests;

/// <summary>Colour profiles of files: pixels, colour spaces and encoded files are those of Skia itself.</summary>
public class ProfileTests
{
    public static TheoryData<SKEncodedImageFormat, string> Files()
    {
        TheoryData<SKEncodedImageFormat, string> files = [];
        foreach (SKEncodedImageFormat format in (SKEncodedImageFormat[])
            [SKEncodedImageFormat.Jpeg, SKEncodedImageFormat.Png, SKEncodedImageFormat.Webp])
        {
            files.Add(format, "Display P3");
            files.Add(format, "Adobe RGB");
        }

        return files;
    }

    [Theory]
    [MemberData(nameof(Files))]
    public void DecodeBitmap_FileWithAProfile_MatchesSkiaAndSoDoItsCopies(SKEncodedImageFormat format, string profile)
    {
        byte[] file = Encode(format, profile);
        SKSamplingOptions sampling = new(SKCubicResampler.Mitchell);
        SKSizeI size = new(200, 150);
        using SKBitmap expected = SKBitmap.Decode(file);
        using SKBitmap expectedSmall = expected.Resize(size, sampling);
        using SKData expectedFile = expectedSmall.Encode(format, 90);

        using PooledBitmap actual = MemoryAllocator.Default.DecodeBitmap(new MemoryStream(file));
        using PooledBitmap small = MemoryAllocator.Default.ResizeBitmap(actual, size, sampling);
        using MemoryStream encoded = new();
        small.Encode(encoded, format, 90);

        Assert.False(actual.ColorSpace.IsSrgb);
        DecodeBitmapTests.AssertSame(expected, actual);
        DecodeBitmapTests.AssertSame(expectedSmall, small);
        Assert.Equal(expectedFile.ToArray(), encoded.ToArray());
        using SKBitmap decodedAgain = SKBitmap.Decode(encoded.ToArray());
        Assert.True(SKColorSpace.Equal(expected.ColorSpace, decodedAgain.ColorSpace));
    }

    [Theory]
    [MemberData(nameof(Files))]
    public async Task DecodeBitmapAsync_ToAColorSpace_MatchesSkia(SKEncodedImageFormat format, string profile)
    {
        byte[] file = Encode(format, profile);
        using SKColorSpace linear = SKColorSpace.CreateRgb(SKColorSpaceTransferFn.Linear, SKColorSpaceXyz.Rec2020);
        foreach (SKColorSpace colorSpace in new[] { SKColorSpace.CreateSrgb(), linear })
        {
            using SKCodec codec = SKCodec.Create(new MemoryStream(file));
            using SKBitmap expected = SKBitmap.Decode(codec, codec.Info.WithColorSpace(colorSpace));
            using PooledBitmap actual = await MemoryAllocator.Default.DecodeBitmapAsync(
                new TricklingStream(file), new SKBitmapDecodeOptions { ColorSpace = colorSpace });

            DecodeBitmapTests.AssertSame(expected, actual);
            using SKBitmap unconverted = SKBitmap.Decode(file);
            Assert.False(unconverted.GetPixelSpan().SequenceEqual(actual.GetPixelSpan()));
        }
    }

    [Theory]
    [InlineData(SKEncodedImageFormat.Jpeg)]
    [InlineData(SKEncodedImageFormat.Webp)]
    public void DecodeBitmap_OfATurnedFileWithAProfile_KeepsTheProfile(SKEncodedImageFormat format)
    {
        byte[] stored = Encode(format, "Display P3");
        byte[] file = format == SKEncodedImageFormat.Jpeg ? Picture.Oriented(stored, SKEncodedOrigin.RightTop) : TurnedWebP(stored);
        using SKBitmap expected = SKBitmap.Decode(stored);

        foreach (SKSizeI? largest in new SKSizeI?[] { null, new SKSizeI(300, 400) })
        {
            using PooledBitmap actual = MemoryAllocator.Default.DecodeBitmap(
                new MemoryStream(file), new SKBitmapDecodeOptions { LargestSize = largest });

            Assert.True(SKColorSpace.Equal(expected.ColorSpace, actual.ColorSpace));
            Assert.Equal(largest is null ? new SKSizeI(Picture.Height, Picture.Width) : new SKSizeI(300, 400), actual.Info.Size);
            if (largest is null)
            {
                AssertTurnedRight(expected, actual);
            }
        }
    }

    /// <summary>Skia converts with such a profile, and names no colour space for it.</summary>
    [Fact]
    public async Task DecodeBitmap_CmykWithAProfile_MatchesSkia()
    {
        byte[] plain = Picture.Read("cmyk-progressive.jpg");
        byte[] file = WithProfile(plain, CmykProfile());
        using SKBitmap expected = SKBitmap.Decode(file);
        using SKBitmap without = SKBitmap.Decode(plain);
        Assert.False(expected.GetPixelSpan().SequenceEqual(without.GetPixelSpan()));

        // Whole, in strips that are turned, and in strips that are compared because the end marker is missing.
        using PooledBitmap actual = MemoryAllocator.Default.DecodeBitmap(new MemoryStream(file));
        using PooledBitmap later = await MemoryAllocator.Default.DecodeBitmapAsync(new TricklingStream(file));
        using PooledBitmap unended = MemoryAllocator.Default.DecodeBitmap(new MemoryStream(file[..^2]));
        using PooledBitmap turned = MemoryAllocator.Default.DecodeBitmap(
            new MemoryStream(Picture.Oriented(file, SKEncodedOrigin.RightTop)));

        DecodeBitmapTests.AssertSame(expected, actual);
        DecodeBitmapTests.AssertSame(expected, later);
        DecodeBitmapTests.AssertSame(expected, unended);
        AssertTurnedRight(expected, turned);
    }

    [Fact]
    public void DecodeBitmap_CmykWithAProfileToAColorSpace_MatchesSkia()
    {
        byte[] file = WithProfile(Picture.Read("cmyk-progressive.jpg"), CmykProfile());
        using SKColorSpace wide = ColorSpace("Display P3");
        using SKCodec codec = SKCodec.Create(new MemoryStream(file));
        using SKBitmap expected = SKBitmap.Decode(codec, codec.Info.WithColorSpace(wide));
        using PooledBitmap actual = MemoryAllocator.Default.DecodeBitmap(
            new MemoryStream(file), new SKBitmapDecodeOptions { ColorSpace = wide });

        DecodeBitmapTests.AssertSame(expected, actual);
    }

    [Fact]
    public void DecodeBitmap_SixteenBitsWithAProfile_MatchesSkia()
    {
        using SKBitmap drawn = Picture.Draw(300, 200, SKAlphaType.Premul, SKColorType.RgbaF16);
        using SKBitmap wide = new(drawn.Info.WithColorSpace(ColorSpace("Display P3")));
        drawn.GetPixelSpan().CopyTo(wide.GetPixelSpan());
        using SKData file = wide.Encode(SKEncodedImageFormat.Png, 100);
        using SKBitmap expected = SKBitmap.Decode(file);
        using PooledBitmap actual = MemoryAllocator.Default.DecodeBitmap(file.AsStream());

        DecodeBitmapTests.AssertSame(expected, actual);
    }

    [Fact]
    public void DecodeBitmap_OfGreyToAnotherColorSpace_IsConvertedInColor()
    {
        byte[] file = Picture.Read("grey.jpg");
        using SKColorSpace wide = ColorSpace("Display P3");
        using SKCodec codec = SKCodec.Create(new MemoryStream(file));
        using SKBitmap expected = SKBitmap.Decode(
            codec, codec.Info.WithColorType(SKImageInfo.PlatformColorType).WithColorSpace(wide));

        using PooledBitmap actual = MemoryAllocator.Default.DecodeBitmap(
            new MemoryStream(file), new SKBitmapDecodeOptions { ColorSpace = wide });
        using PooledBitmap grey = MemoryAllocator.Default.DecodeBitmap(
            new MemoryStream(file), new SKBitmapDecodeOptions { ColorSpace = SKColorSpace.CreateSrgb() });

        DecodeBitmapTests.AssertSame(expected, actual);
        Assert.Equal(SKColorType.Gray8, grey.ColorType);
    }

    [Fact]
    public void DecodeBitmap_ToADisposedColorSpace_ThrowsObjectDisposed()
    {
        SKColorSpace wide = ColorSpace("Display P3");
        wide.Dispose();

        Assert.Throws<ObjectDisposedException>(() => MemoryAllocator.Default.DecodeBitmap(
            new MemoryStream(Picture.Read("baseline.jpg")), new SKBitmapDecodeOptions { ColorSpace = wide }).Dispose());
    }

    private static void AssertTurnedRight(SKBitmap stored, SKBitmap actual)
    {
        ReadOnlySpan<uint> from = MemoryMarshal.Cast<byte, uint>(stored.GetPixelSpan());
        ReadOnlySpan<uint> to = MemoryMarshal.Cast<byte, uint>(actual.GetPixelSpan());
        Assert.Equal((stored.Height, stored.Width, from.Length), (actual.Width, actual.Height, to.Length));
        for (int i = 0; i < from.Length; i++)
        {
            (int y, int x) = Math.DivRem(i, stored.Width);
            Assert.True(from[i] == to[(x * stored.Height) + stored.Height - 1 - y], $"The pixel at {x}, {y} differs.");
        }
    }

    private static SKColorSpace ColorSpace(string profile) => profile == "Adobe RGB"
        ? SKColorSpace.CreateRgb(SKColorSpaceTransferFn.TwoDotTwo, SKColorSpaceXyz.AdobeRgb)
        : SKColorSpace.CreateRgb(SKColorSpaceTransferFn.Srgb, SKColorSpaceXyz.DisplayP3);

    private static byte[] Encode(SKEncodedImageFormat format, string profile)
    {
        using SKBitmap drawn = Picture.Draw(Picture.Width, Picture.Height, SKAlphaType.Opaque);
        using SKColorSpace colorSpace = ColorSpace(profile);
        using SKBitmap bitmap = new(drawn.Info.WithColorSpace(colorSpace));
        drawn.GetPixelSpan().CopyTo(bitmap.GetPixelSpan());
        using SKData file = bitmap.Encode(format, 90);
        return file.ToArray();
    }

    private static byte[] WithProfile(byte[] jpeg, byte[] profile)
    {
        byte[] segment = [0xFF, 0xE2, 0, 0, .. "ICC_PROFILE\0"u8, 1, 1, .. profile];
        BinaryPrimitives.WriteUInt16BigEndian(segment.AsSpan(2), (ushort)(segment.Length - 2));
        return [.. jpeg[..2], .. segment, .. jpeg[2..]];
    }

    // A printer's profile: Lab colours for the sixteen mixtures of full and no ink, in 8 bits, between which it is interpolated.
    private static byte[] CmykProfile()
    {
        byte[] identity = [.. Enumerable.Range(0, 256).Select(value => (byte)value)];
        using MemoryStream table = new();
        table.Write("mft1\0\0\0\0"u8);
        table.Write([4, 3, 2, 0]);
        foreach (int entry in new[] { 1, 0, 0, 0, 1, 0, 0, 0, 1 })
        {
            table.Write([0, (byte)entry, 0, 0]);
        }

        for (int ink = 0; ink < 4; ink++)
        {
            table.Write(identity);
        }

        for (int inks = 0; inks < 16; inks++)
        {
            (int cyan, int magenta, int yellow, int black) = (inks >> 3, (inks >> 2) & 1, (inks >> 1) & 1, inks & 1);
            int light = (250 - (60 * cyan) - (90 * magenta) - (20 * yellow)) / (1 + (7 * black));
            table.Write([(byte)light, (byte)(128 - (40 * cyan) + (70 * magenta)), (byte)(128 - (40 * cyan) + (80 * yellow))]);
        }

        for (int channel = 0; channel < 3; channel++)
        {
            table.Write(identity);
        }

        byte[] header = new byte[144];
        BinaryPrimitives.WriteInt32BigEndian(header, header.Length + (int)table.Length);
        header[8] = 2;
        "prtrCMYKLab "u8.CopyTo(header.AsSpan(12));
        "acsp"u8.CopyTo(header.AsSpan(36));

        // The white of the connection space, and one tag.
        ((byte[])[0, 0, 0xF6, 0xD6, 0, 1, 0, 0, 0, 0, 0xD3, 0x2D]).CopyTo(header, 68);
        header[131] = 1;
        "A2B0"u8.CopyTo(header.AsSpan(132));
        header[139] = 144;
        BinaryPrimitives.WriteInt32BigEndian(header.AsSpan(140), (int)table.Length);
        return [.. header, .. table.ToArray()];
    }

    // Skia has written the chunk VP8X for the profile: the bit of EXIF is added, and the chunk itself.
    private static byte[] TurnedWebP(byte[] webp)
    {
        Assert.Equal("VP8X"u8.ToArray(), webp[12..16]);
        byte[] file = [.. webp, .. Picture.ExifChunk(SKEncodedOrigin.RightTop)];
        file[20] |= 8;
        BinaryPrimitives.WriteInt32LittleEndian(file.AsSpan(4), file.Length - 8);
        return file;
    }
}
