namespace Allocator.SkiaSharp.Tests;

/// <summary>JPEGs whose end marker is missing, which are whole, and files that are cut off, of which a part can be had.</summary>
public class IncompleteFileTests
{
    // As a phone appends it: bytes that look like markers, and a picture of its own.
    private static readonly byte[] s_trailer =
        [0, 0, (byte)'S', (byte)'E', (byte)'F', 0xFF, 0xE1, 0, 9, 0xFF, 0xC4, 1, 2, 0xFF, 0xDA, 0, 3, 0xFF, 0xD8, 7, 0xFF, 0xD9];

    public static TheoryData<string> Jpegs() => [.. Picture.Names.Where(name => name.EndsWith(".jpg", StringComparison.Ordinal))];

    public static TheoryData<string> Files() => Picture.All();

    [Theory]
    [MemberData(nameof(Jpegs))]
    public async Task DecodeBitmap_JpegWithoutItsEndMarker_IsComplete(string name)
    {
        byte[] whole = Picture.Read(name);
        using MemoryAllocator allocator = MemoryAllocator.Create();
        foreach (byte[] end in new[] { [], [0xFF], s_trailer })
        {
            byte[] file = [.. whole[..^2], .. end];
            foreach (SKBitmapDecodeOptions options in (SKBitmapDecodeOptions[])
                [new(), new() { LargestSize = new SKSizeI(500, 500) }, new() { AcceptIncomplete = true }])
            {
                using PooledBitmap expected = allocator.DecodeBitmap(new MemoryStream(whole), options);
                using PooledBitmap actual = allocator.DecodeBitmap(new MemoryStream(file), options);
                using PooledBitmap later = await allocator.DecodeBitmapAsync(new TricklingStream(file), options);

                DecodeBitmapTests.AssertSame(expected, actual);
                DecodeBitmapTests.AssertSame(expected, later);
                Assert.Equal((false, actual.Info.Rect), (actual.IsIncomplete, actual.DecodedRect));
            }

            using PooledBitmap turned = allocator.DecodeBitmap(
                new MemoryStream(Picture.Oriented(whole, SKEncodedOrigin.LeftBottom)));
            using PooledBitmap turnedToo = allocator.DecodeBitmap(
                new MemoryStream(Picture.Oriented(file, SKEncodedOrigin.LeftBottom)));
            DecodeBitmapTests.AssertSame(turned, turnedToo);
        }

        Assert.Equal(0, allocator.GetStatistics().OutstandingAllocations);
    }

    /// <summary>The decoder fills what is missing with grey and reports success, once it has an end marker.</summary>
    [Theory]
    [MemberData(nameof(Jpegs))]
    public void DecodeBitmap_OfAJpegThatLacksAFewBytesOfItsLastScan_IsCutOff(string name)
    {
        byte[] whole = Picture.Read(name);
        foreach (int missing in new[] { 6, 10, 30, 100, 400 })
        {
            Exception? exception = Record.Exception(
                () => MemoryAllocator.Default.DecodeBitmap(new MemoryStream(whole[..^missing])).Dispose());

            Assert.True(exception is InvalidDataException, $"{name} less {missing}: {exception}");
        }
    }

    /// <summary>The end is the trailer, and in front of it the empty block behind the picture's data.</summary>
    [Theory]
    [InlineData("palette.gif")]
    [InlineData("interlaced.gif")]
    public async Task DecodeBitmap_GifWithoutItsEnd_MatchesSkia(string name)
    {
        byte[] whole = Picture.Read(name);
        Assert.Equal([0, 0x3B], whole[^2..]);
        foreach (byte[] file in new byte[][] { whole, whole[..^1], whole[..^2], [.. whole[..^1], .. s_trailer] })
        {
            using SKBitmap expected = SKBitmap.Decode(file);
            foreach (SKBitmapDecodeOptions options in (SKBitmapDecodeOptions[])[new(), new() { AcceptIncomplete = true }])
            {
                using PooledBitmap actual = MemoryAllocator.Default.DecodeBitmap(new MemoryStream(file), options);
                using PooledBitmap later = await MemoryAllocator.Default.DecodeBitmapAsync(new TricklingStream(file), options);

                DecodeBitmapTests.AssertSame(expected, actual);
                DecodeBitmapTests.AssertSame(expected, later);
                Assert.Equal((false, actual.Info.Rect), (actual.IsIncomplete, actual.DecodedRect));
            }
        }
    }

    [Theory]
    [InlineData("opaque.png")]
    [InlineData("alpha.png")]
    [InlineData("interlaced.png")]
    public void DecodeBitmap_PngWithoutItsEnd_MatchesSkia(string name)
    {
        byte[] file = Picture.Read(name)[..^12];
        using SKBitmap expected = SKBitmap.Decode(file);
        using PooledBitmap actual = MemoryAllocator.Default.DecodeBitmap(new MemoryStream(file));

        DecodeBitmapTests.AssertSame(expected, actual);
        Assert.False(actual.IsIncomplete);
    }

    /// <summary>The last block of data is missing, so the end that is offered comes too early.</summary>
    [Fact]
    public void DecodeBitmap_OfAGifThatLacksItsLastBlock_IsCutOff()
    {
        byte[] whole = Picture.Read("palette.gif");
        byte[] file = whole[..^98];
        Assert.Equal(95, whole[^98]);
        using PooledBitmap expected = MemoryAllocator.Default.DecodeBitmap(new MemoryStream(whole));

        InvalidDataException exception = Assert.Throws<InvalidDataException>(
            () => MemoryAllocator.Default.DecodeBitmap(new MemoryStream(file)).Dispose());
        using PooledBitmap actual = MemoryAllocator.Default.DecodeBitmap(
            new MemoryStream(file), new SKBitmapDecodeOptions { AcceptIncomplete = true });

        Assert.Contains("cut off", exception.Message, StringComparison.Ordinal);
        Assert.True(actual.IsIncomplete);
        int rows = actual.DecodedRect.Height;
        Assert.InRange(rows, Picture.Height - 10, Picture.Height - 1);
        int bytes = rows * expected.RowBytes;
        Assert.True(expected.GetPixelSpan()[..bytes].SequenceEqual(actual.GetPixelSpan()[..bytes]));
    }

    [Theory]
    [MemberData(nameof(Files))]
    public void DecodeBitmap_AcceptsIncomplete_HasTheReportedRows(string name)
    {
        byte[] whole = Picture.Read(name);
        using PooledBitmap expected = MemoryAllocator.Default.DecodeBitmap(new MemoryStream(whole));
        SKBitmapDecodeOptions options = new() { AcceptIncomplete = true };
        byte[] part = whole[..(whole.Length * 3 / 4)];
        PooledBitmap actual;
        try
        {
            actual = MemoryAllocator.Default.DecodeBitmap(new MemoryStream(part), options);
        }
        catch (InvalidDataException)
        {
            // Skia's decoder of lossless WebP delivers nothing before it has all.
            Assert.EndsWith(".webp", name, StringComparison.Ordinal);
            return;
        }

        using (actual)
        {
            Assert.True(actual.IsIncomplete);
            SKRectI rows = actual.DecodedRect;
            Assert.Equal((0, Picture.Width), (rows.Left, rows.Right));
            Assert.InRange(rows.Height, Picture.Height / 8, Picture.Height);
            Assert.True(name.EndsWith(".bmp", StringComparison.Ordinal) ? rows.Bottom == Picture.Height : rows.Top == 0);
            if (IsInOnePass(name))
            {
                Assert.InRange(rows.Height, 1, Picture.Height - 1);
                int stride = expected.RowBytes;
                Assert.True(expected.GetPixelSpan()[(rows.Top * stride)..(rows.Bottom * stride)].SequenceEqual(
                    actual.GetPixelSpan()[(rows.Top * stride)..(rows.Bottom * stride)]));
            }
        }
    }

    [Theory]
    [InlineData(SKEncodedOrigin.TopLeft)]
    [InlineData(SKEncodedOrigin.TopRight)]
    [InlineData(SKEncodedOrigin.BottomRight)]
    [InlineData(SKEncodedOrigin.BottomLeft)]
    [InlineData(SKEncodedOrigin.LeftTop)]
    [InlineData(SKEncodedOrigin.RightTop)]
    [InlineData(SKEncodedOrigin.RightBottom)]
    [InlineData(SKEncodedOrigin.LeftBottom)]
    public void DecodeBitmap_AcceptsIncompleteTurnedFile_ReportsUprightRows(SKEncodedOrigin origin)
    {
        byte[] whole = Picture.Oriented(Picture.Read("baseline.jpg"), origin);
        using PooledBitmap expected = MemoryAllocator.Default.DecodeBitmap(new MemoryStream(whole));
        using PooledBitmap actual = MemoryAllocator.Default.DecodeBitmap(
            new MemoryStream(whole[..(whole.Length / 2)]), new SKBitmapDecodeOptions { AcceptIncomplete = true });

        SKRectI seen = actual.DecodedRect;
        Assert.InRange(seen.Width * seen.Height, Picture.Width * Picture.Height / 8, (Picture.Width * Picture.Height) - 1);
        foreach (SKPointI at in (SKPointI[])
            [new(seen.Left, seen.Top), new(seen.Right - 1, seen.Top), new(seen.Left, seen.Bottom - 1), new(seen.MidX, seen.MidY)])
        {
            Assert.Equal(expected.GetPixel(at.X, at.Y), actual.GetPixel(at.X, at.Y));
        }
    }

    [Fact]
    public void DecodeBitmap_AcceptsIncompleteWithoutARow_Throws()
    {
        byte[] file = Picture.Read("opaque.png")[..60];

        Assert.Throws<InvalidDataException>(() => MemoryAllocator.Default.DecodeBitmap(
            new MemoryStream(file), new SKBitmapDecodeOptions { AcceptIncomplete = true }).Dispose());
    }

    private static bool IsInOnePass(string name) =>
        name is "baseline.jpg" or "grey.jpg" or "opaque.png" or "alpha.png" or "rgb.bmp" or "palette.gif";
}
