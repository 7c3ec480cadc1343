using System.Buffers.Binary;

namespace Allocator.SkiaSharp.Tests;

/// <summary>Alpha types, colour types, frames, and streams that are at their end.</summary>
public class DecodeOptionsTests
{
    public static TheoryData<SKColorType> ColorTypes() =>
        [.. Enum.GetValues<SKColorType>().Where(type => type != SKColorType.Unknown && new SKImageInfo(1, 1, type).BytesPerPixel > 0)];

    /// <summary>Pooled memory has another picture's bytes: what Skia leaves of them would be seen.</summary>
    [Theory]
    [MemberData(nameof(ColorTypes))]
    public void DecodeBitmap_ToAnyColorType_WritesEachPixelOrIsNotSupported(SKColorType colorType)
    {
        using MemoryAllocator allocator = MemoryAllocator.Create();
        foreach (string name in (string[])["baseline.jpg", "grey.jpg", "opaque.png", "alpha.png", "lossy.webp", "palette.gif", "rgb.bmp"])
        {
            byte[] file = Picture.Read(name);
            byte[]? first = null;
            foreach (byte before in (byte[])[0xCD, 0x32])
            {
                try
                {
                    SKImageInfo info = new(Picture.Width, Picture.Height, colorType, SKAlphaType.Opaque);
                    using (PooledBitmap other = allocator.AllocateBitmap(info))
                    {
                        other.GetPixelSpan().Fill(before);
                    }

                    using PooledBitmap actual = allocator.DecodeBitmap(
                        new MemoryStream(file), new SKBitmapDecodeOptions { ColorType = colorType });
                    byte[] pixels = actual.GetPixelSpan().ToArray();
                    Assert.Equal((name, true), (name, first is null || first.AsSpan().SequenceEqual(pixels)));
                    first = pixels;
                }
                catch (NotSupportedException)
                {
                    Assert.Null(first);
                }
            }

            Assert.True(first is not null || colorType is not (SKColorType.Bgra8888 or SKColorType.Rgba8888), name);
        }
    }

    [Theory]
    [MemberData(nameof(ColorTypes))]
    public void ResizeBitmap_OfAnyColorType_WritesEachPixelOrIsNotSupported(SKColorType colorType)
    {
        SKImageInfo info = new(640, 480, colorType, SKAlphaType.Premul);
        SKSizeI half = new(320, 240);
        using MemoryAllocator allocator = MemoryAllocator.Create();
        using SKBitmap source = new(info);
        source.Erase(SKColors.Olive);
        byte[]? first = null;
        foreach (byte before in (byte[])[0xCD, 0x32])
        {
            using (PooledBitmap other = allocator.AllocateBitmap(info.WithSize(half)))
            {
                other.GetPixelSpan().Fill(before);
            }

            try
            {
                using PooledBitmap actual = allocator.ResizeBitmap(source, half, new SKSamplingOptions(SKFilterMode.Linear));
                byte[] pixels = actual.GetPixelSpan().ToArray();
                Assert.True(first is null || first.AsSpan().SequenceEqual(pixels));
                first = pixels;
            }
            catch (NotSupportedException)
            {
                Assert.Null(first);
            }
        }

        Assert.True(first is not null || colorType is not (SKColorType.Bgra8888 or SKColorType.Rgba8888));
    }

    [Fact]
    public void DecodeBitmap_ToUnpremultipliedAlpha_MatchesSkia()
    {
        foreach (string name in (string[])["alpha.png", "lossless-alpha.webp"])
        {
            byte[] file = Picture.Read(name);
            using SKCodec codec = SKCodec.Create(new MemoryStream(file));
            using SKBitmap expected = SKBitmap.Decode(codec, codec.Info.WithAlphaType(SKAlphaType.Unpremul));
            using PooledBitmap actual = MemoryAllocator.Default.DecodeBitmap(
                new MemoryStream(file), new SKBitmapDecodeOptions { AlphaType = SKAlphaType.Unpremul });

            DecodeBitmapTests.AssertSame(expected, actual);
        }
    }

    [Fact]
    public void DecodeBitmap_ToAnInvalidAlphaType_Throws()
    {
        MemoryStream file = new(Picture.Read("alpha.png"));

        Assert.Contains("alpha", Assert.Throws<NotSupportedException>(() => MemoryAllocator.Default.DecodeBitmap(
            file, new SKBitmapDecodeOptions { AlphaType = SKAlphaType.Opaque }).Dispose()).Message, StringComparison.Ordinal);
        file.Position = 0;
        Assert.Throws<ArgumentException>(() => MemoryAllocator.Default.DecodeBitmap(
            file, new SKBitmapDecodeOptions { AlphaType = SKAlphaType.Unknown }).Dispose());
        Assert.Throws<ArgumentOutOfRangeException>(() => new SKBitmapDecodeOptions { FrameIndex = -1 });
    }

    [Fact]
    public async Task DecodeBitmap_OfAFrame_MatchesSkia()
    {
        byte[] file = AnimatedWebP();
        using MemoryAllocator allocator = MemoryAllocator.Create(new MemoryAllocatorOptions { MemoryBudgetMegabytes = 200 });
        for (int frame = 0; frame < 2; frame++)
        {
            using SKCodec codec = SKCodec.Create(new MemoryStream(file));
            SKImageInfo info = codec.Info.WithAlphaType(SKAlphaType.Premul);
            using SKBitmap expected = new(info);
            Assert.Equal(SKCodecResult.Success, codec.GetPixels(info, expected.GetPixels(), new SKCodecOptions(frame)));
            SKBitmapDecodeOptions options = new() { FrameIndex = frame, AlphaType = SKAlphaType.Premul };

            using PooledBitmap actual = allocator.DecodeBitmap(new MemoryStream(file), options);
            using PooledBitmap later = await allocator.DecodeBitmapAsync(new TricklingStream(file), options);

            Assert.True(expected.GetPixelSpan().SequenceEqual(actual.GetPixelSpan()));
            Assert.True(expected.GetPixelSpan().SequenceEqual(later.GetPixelSpan()));
        }
    }

    [Fact]
    public void DecodeBitmap_MissingFrame_SaysHowManyThereAre()
    {
        foreach ((byte[] file, int frames) in new[]
        {
            (AnimatedWebP(), 2), (Picture.Read("baseline.jpg"), 1), (Picture.Read("palette.gif"), 1),
        })
        {
            using MemoryAllocator allocator = MemoryAllocator.Create();
            ArgumentOutOfRangeException exception = Assert.Throws<ArgumentOutOfRangeException>(() => allocator.DecodeBitmap(
                new MemoryStream(file), new SKBitmapDecodeOptions { FrameIndex = frames }).Dispose());

            Assert.Contains($"{frames} frame", exception.Message, StringComparison.Ordinal);
            Assert.Equal(0, allocator.GetStatistics().OutstandingAllocations);
        }
    }

    [Fact]
    public async Task DecodeBitmap_StreamNotRewound_SaysWhatToDo()
    {
        using MemoryStream stream = new();
        stream.Write(Picture.Read("baseline.jpg"));
        foreach (ArgumentException exception in new[]
        {
            Assert.Throws<ArgumentException>(() => MemoryAllocator.Default.DecodeBitmap(stream).Dispose()),
            Assert.Throws<ArgumentException>(() => MemoryAllocator.Default.EstimateBitmapBytes(stream)),
            await Assert.ThrowsAsync<ArgumentException>(
                async () => (await MemoryAllocator.Default.DecodeBitmapAsync(stream)).Dispose()),
        })
        {
            Assert.Contains("Set Position = 0", exception.Message, StringComparison.Ordinal);
            Assert.Contains($"{stream.Length:N0}", exception.Message, StringComparison.Ordinal);
        }

        stream.Position = 0;
        MemoryAllocator.Default.DecodeBitmap(stream).Dispose();
    }

    [Fact]
    public void DecodeBitmap_OfAnEmptyStream_SaysThatItIsEmpty()
    {
        foreach (Stream stream in new Stream[] { new MemoryStream(), new TricklingStream([]) })
        {
            InvalidDataException exception = Assert.Throws<InvalidDataException>(
                () => MemoryAllocator.Default.DecodeBitmap(stream).Dispose());

            Assert.Contains("empty", exception.Message, StringComparison.Ordinal);
        }
    }

    // The header; the canvas and the background; two frames of a lossless picture, the second of a part of the canvas.
    internal static byte[] AnimatedWebP()
    {
        using MemoryStream file = new();
        file.Write("RIFF    WEBP"u8);
        Write(file, "VP8X"u8, [0b10010, 0, 0, 0, 63, 0, 0, 47, 0, 0]);
        Write(file, "ANIM"u8, [0, 0, 0, 0, 0, 0]);
        foreach ((byte x, byte width, byte height, SKAlphaType alphaType) in new (byte, byte, byte, SKAlphaType)[]
        {
            (0, 64, 48, SKAlphaType.Opaque), (8, 32, 16, SKAlphaType.Premul),
        })
        {
            byte[] still = Picture.Encode(SKEncodedImageFormat.Webp, 100, alphaType, width: width, height: height);
            int at = still.AsSpan().IndexOf("VP8L"u8);
            byte place = (byte)(x / 2);
            Write(
                file, "ANMF"u8,
                [place, 0, 0, place, 0, 0, (byte)(width - 1), 0, 0, (byte)(height - 1), 0, 0, 100, 0, 0, 0, .. still[at..]]);
        }

        byte[] bytes = file.ToArray();
        BinaryPrimitives.WriteInt32LittleEndian(bytes.AsSpan(4), bytes.Length - 8);
        return bytes;
    }

    private static void Write(MemoryStream file, ReadOnlySpan<byte> name, byte[] content)
    {
        byte[] length = new byte[4];
        BinaryPrimitives.WriteInt32LittleEndian(length, content.Length);
        file.Write(name);
        file.Write(length);
        file.Write(content);
        file.Write(new byte[content.Length & 1]);
    }
}
