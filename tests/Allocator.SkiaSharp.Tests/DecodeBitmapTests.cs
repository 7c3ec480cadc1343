namespace Allocator.SkiaSharp.Tests;

public class DecodeBitmapTests
{
    public static TheoryData<string> Files() => Picture.All();

    public static TheoryData<string, SKEncodedOrigin> OrientedFiles()
    {
        TheoryData<string, SKEncodedOrigin> files = [];
        foreach (SKEncodedOrigin origin in Enum.GetValues<SKEncodedOrigin>().Distinct())
        {
            files.Add("baseline.jpg", origin);
            files.Add("progressive-420.jpg", origin);
            files.Add("lossy.webp", origin);
        }

        return files;
    }

    [Theory]
    [MemberData(nameof(Files))]
    public void DecodeBitmap_EachKindOfFile_MatchesSkia(string name)
    {
        byte[] file = Picture.Read(name);
        using MemoryAllocator allocator = MemoryAllocator.Create();
        using SKBitmap expected = Reference(file, null);
        using (PooledBitmap actual = allocator.DecodeBitmap(new MemoryStream(file)))
        {
            AssertSame(expected, actual);
            Assert.Equal(1, allocator.GetStatistics().OutstandingAllocations);
            Assert.Same(allocator, actual.Allocator);
        }

        Assert.Equal(0, allocator.GetStatistics().OutstandingAllocations);
    }

    [Theory]
    [MemberData(nameof(Files))]
    public async Task DecodeBitmapAsync_FromAStreamThatCannotSeek_HasTheSamePixels(string name)
    {
        byte[] file = Picture.Read(name);
        using MemoryAllocator allocator = MemoryAllocator.Create();
        using SKBitmap expected = Reference(file, null);
        using (PooledBitmap actual = await allocator.DecodeBitmapAsync(new TricklingStream(file)))
        {
            AssertSame(expected, actual);
            Assert.IsType<MemoryReservation>(actual.Allocator);
        }

        Assert.Equal(0, allocator.GetStatistics().OutstandingAllocations);
    }

    [Theory]
    [InlineData(SKColorType.Rgba8888)]
    [InlineData(SKColorType.Bgra8888)]
    [InlineData(SKColorType.Rgb565)]
    [InlineData(SKColorType.RgbaF16)]
    [InlineData(SKColorType.RgbaF32)]
    public void DecodeBitmap_ToAColorType_MatchesSkia(SKColorType colorType)
    {
        foreach (string name in new[] { "baseline.jpg", "opaque.png", "lossy.webp", "palette.gif", "rgb.bmp" })
        {
            byte[] file = Picture.Read(name);
            SKBitmapDecodeOptions options = new() { ColorType = colorType };
            SKBitmap? expected = TryReference(file, colorType);
            if (expected is null)
            {
                Assert.Throws<NotSupportedException>(
                    () => MemoryAllocator.Default.DecodeBitmap(new MemoryStream(file), options).Dispose());
                continue;
            }

            using (expected)
            {
                using PooledBitmap actual = MemoryAllocator.Default.DecodeBitmap(new MemoryStream(file), options);
                AssertSame(expected, actual);
            }
        }
    }

    [Fact]
    public void DecodeBitmap_ColorTypeTheCodecLacks_IsNotSupported()
    {
        using MemoryAllocator allocator = MemoryAllocator.Create();
        NotSupportedException exception = Assert.Throws<NotSupportedException>(() => allocator.DecodeBitmap(
            new MemoryStream(Picture.Read("baseline.jpg")), new SKBitmapDecodeOptions { ColorType = SKColorType.Gray8 }).Dispose());

        Assert.Contains("InvalidConversion", exception.Message, StringComparison.Ordinal);
        Assert.Equal(0, allocator.GetStatistics().OutstandingAllocations);
    }

    [Theory]
    [MemberData(nameof(OrientedFiles))]
    public void DecodeBitmap_OfAnOrientedPicture_IsUpright(string name, SKEncodedOrigin origin)
    {
        byte[] stored = Picture.Read(name);
        byte[] file = name.EndsWith(".webp", StringComparison.Ordinal)
            ? Picture.OrientedWebP(stored, origin) : Picture.Oriented(stored, origin);
        using SKBitmap reference = Reference(stored, null);
        bool isTurned = (int)origin >= 5;

        using PooledBitmap actual = MemoryAllocator.Default.DecodeBitmap(new MemoryStream(file));

        Assert.Equal(isTurned ? new SKSizeI(Picture.Height, Picture.Width) : reference.Info.Size, actual.Info.Size);
        for (int y = 0; y < Picture.Height; y += 7)
        {
            for (int x = 0; x < Picture.Width; x += 7)
            {
                SKPointI at = Upright(origin, x, y);
                if (reference.GetPixel(x, y) != actual.GetPixel(at.X, at.Y))
                {
                    Assert.Fail($"{x}, {y} of {origin}: {reference.GetPixel(x, y)} and {actual.GetPixel(at.X, at.Y)}");
                }
            }
        }
    }

    // In a WebP the orientation stands behind the pixels: far beyond what is read first.
    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task DecodeBitmap_OfALargeOrientedWebP_IsUpright(bool isAsync)
    {
        byte[] file = Picture.OrientedWebP(Noise(Picture.Width, Picture.Height, SKEncodedImageFormat.Webp), SKEncodedOrigin.RightTop);
        Assert.InRange(file.Length, 200_000, int.MaxValue);
        using MemoryAllocator allocator = MemoryAllocator.Create(new MemoryAllocatorOptions { MemoryBudgetMegabytes = 100 });

        using PooledBitmap actual = isAsync
            ? await allocator.DecodeBitmapAsync(new MemoryStream(file))
            : allocator.DecodeBitmap(new MemoryStream(file));

        Assert.Equal(new SKSizeI(Picture.Height, Picture.Width), actual.Info.Size);
        long whole = allocator.EstimateBitmapBytes(new MemoryStream(file));
        Assert.InRange(whole, 2L * 4 * Picture.Width * Picture.Height, 100 << 20);
        Assert.InRange(allocator.EstimateBitmapBytes(file.AsSpan(0, 65_536)), 2L * 4 * Picture.Width * Picture.Height, whole);
    }

    // The largest picture of an icon may begin behind what is read first.
    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task DecodeBitmap_OfALargeIcon_IsItsLargestPicture(bool isAsync)
    {
        byte[] small = Noise(64, 64, SKEncodedImageFormat.Png);
        byte[] large = Noise(256, 256, SKEncodedImageFormat.Png);
        byte[] file = [0, 0, 1, 0, 2, 0, .. Entry(64, small.Length, 38), .. Entry(0, large.Length, 38 + small.Length), .. small, .. large];
        using MemoryAllocator allocator = MemoryAllocator.Create(new MemoryAllocatorOptions { MemoryBudgetMegabytes = 100 });

        using PooledBitmap actual = isAsync
            ? await allocator.DecodeBitmapAsync(new MemoryStream(file))
            : allocator.DecodeBitmap(new MemoryStream(file));

        using SKBitmap expected = SKBitmap.Decode(file);
        Assert.Equal((new SKSizeI(256, 256), expected.Info.Size), (actual.Info.Size, actual.Info.Size));

        static byte[] Entry(byte size, int length, int offset) =>
            [size, size, 0, 0, 1, 0, 32, 0, .. BitConverter.GetBytes(length), .. BitConverter.GetBytes(offset)];
    }

    [Theory]
    [InlineData(400, 400, 400, 300)]
    [InlineData(10_000, 100, 133, 100)]
    [InlineData(1000, 5000, 1000, 750)]
    [InlineData(1, 1, 1, 1)]
    [InlineData(5000, 5000, Picture.Width, Picture.Height)]
    public void DecodeBitmap_WithALargestSize_FitsAndLooksTheSame(int largestWidth, int largestHeight, int width, int height)
    {
        SKBitmapDecodeOptions options = new() { LargestSize = new SKSizeI(largestWidth, largestHeight) };
        foreach (string name in Picture.Names)
        {
            byte[] file = Picture.Read(name);
            using SKBitmap whole = Reference(file, null);
            using PooledBitmap actual = MemoryAllocator.Default.DecodeBitmap(new MemoryStream(file), options);

            Assert.Equal((name, width, height), (name, actual.Width, actual.Height));
            if (width >= 100)
            {
                // The middle of a quarter that has one colour.
                SKColor expected = whole.GetPixel(Picture.Width / 12, Picture.Height / 12);
                SKColor found = actual.GetPixel(width / 12, height / 12);
                Assert.InRange(Math.Abs(expected.Red - found.Red) + Math.Abs(expected.Green - found.Green), 0, 8);
            }
        }
    }

    [Fact]
    public void DecodeBitmap_TurnedPictureWithALargestSize_FitsUpright()
    {
        SKBitmapDecodeOptions options = new() { LargestSize = new SKSizeI(300, 600) };
        foreach (byte[] file in new[]
        {
            Picture.Oriented(Picture.Read("baseline.jpg"), SKEncodedOrigin.RightTop),
            Picture.OrientedWebP(Picture.Read("lossy.webp"), SKEncodedOrigin.RightTop),
        })
        {
            using PooledBitmap bitmap = MemoryAllocator.Default.DecodeBitmap(new MemoryStream(file), options);

            // What is stored at the top left is seen at the top right.
            Assert.Equal((300, 400), (bitmap.Width, bitmap.Height));
            Assert.InRange(bitmap.GetPixel(290, 10).Red, 240, 255);
            Assert.InRange(bitmap.GetPixel(290, 10).Green, 0, 16);
        }
    }

    [Fact]
    public void DecodeBitmap_BeyondALimit_IsRefusedAndLeavesNothing()
    {
        using MemoryAllocator allocator = MemoryAllocator.Create(new MemoryAllocatorOptions { AllocationLimitMegabytes = 4 });

        Assert.Throws<MemoryLimitExceededException>(
            () => allocator.DecodeBitmap(new MemoryStream(Picture.Read("baseline.jpg"))).Dispose());

        Assert.Equal(0, allocator.GetStatistics().OutstandingAllocations);
    }

    [Fact]
    public void DecodeBitmap_OfAStreamFromItsMiddle_StartsThere()
    {
        byte[] file = Picture.Read("baseline.jpg");
        using MemoryStream stream = new([1, 2, 3, .. file]);
        stream.Position = 3;

        using PooledBitmap bitmap = MemoryAllocator.Default.DecodeBitmap(stream);

        Assert.Equal((Picture.Width, stream.Length), (bitmap.Width, stream.Position));
    }

    internal static SKBitmap Reference(byte[] file, SKColorType? colorType) => TryReference(file, colorType)!;

    // As SKBitmap.Decode, or null if Skia does not convert to that colour type.
    private static SKBitmap? TryReference(byte[] file, SKColorType? colorType)
    {
        if (colorType is null)
        {
            return SKBitmap.Decode(file);
        }

        using SKCodec codec = SKCodec.Create(new MemoryStream(file));
        SKAlphaType alphaType = codec.Info.AlphaType == SKAlphaType.Unpremul ? SKAlphaType.Premul : codec.Info.AlphaType;
        return SKBitmap.Decode(codec, codec.Info.WithColorType(colorType.Value).WithAlphaType(alphaType));
    }

    internal static void AssertSame(SKBitmap expected, SKBitmap actual)
    {
        Assert.Equal(
            (expected.Width, expected.Height, expected.ColorType, expected.AlphaType),
            (actual.Width, actual.Height, actual.ColorType, actual.AlphaType));
        Assert.Equal(expected.ColorSpace is null, actual.ColorSpace is null);
        Assert.True(expected.ColorSpace is null || SKColorSpace.Equal(expected.ColorSpace, actual.ColorSpace));
        Assert.True(expected.GetPixelSpan().SequenceEqual(actual.GetPixelSpan()));
    }

    // Where the orientation's definition puts what is stored there.
    private static SKPointI Upright(SKEncodedOrigin origin, int x, int y) => origin switch
    {
        SKEncodedOrigin.TopRight => new(Picture.Width - 1 - x, y),
        SKEncodedOrigin.BottomRight => new(Picture.Width - 1 - x, Picture.Height - 1 - y),
        SKEncodedOrigin.BottomLeft => new(x, Picture.Height - 1 - y),
        SKEncodedOrigin.LeftTop => new(y, x),
        SKEncodedOrigin.RightTop => new(Picture.Height - 1 - y, x),
        SKEncodedOrigin.RightBottom => new(Picture.Height - 1 - y, Picture.Width - 1 - x),
        SKEncodedOrigin.LeftBottom => new(y, Picture.Width - 1 - x),
        _ => new(x, y),
    };

    private static byte[] Noise(int width, int height, SKEncodedImageFormat format)
    {
        using SKBitmap noise = new(new SKImageInfo(width, height, SKColorType.Bgra8888, SKAlphaType.Opaque));
        Span<byte> pixels = noise.GetPixelSpan();
        new Random(1).NextBytes(pixels);
        for (int alpha = 3; alpha < pixels.Length; alpha += 4)
        {
            pixels[alpha] = 255;
        }

        return noise.Encode(format, 80).ToArray();
    }
}
