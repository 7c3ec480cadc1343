using ImageMagick;
using SkiaSharp;

namespace LoadResizeSave.Tests;

public class RasterTests
{
    public static TheoryData<SKEncodedImageFormat, AllocatorKind> Codings()
    {
        TheoryData<SKEncodedImageFormat, AllocatorKind> codings = [];
        foreach (AllocatorKind kind in Enum.GetValues<AllocatorKind>())
        {
            codings.Add(SKEncodedImageFormat.Jpeg, kind);
            codings.Add(SKEncodedImageFormat.Png, kind);
            codings.Add(SKEncodedImageFormat.Webp, kind);
        }

        return codings;
    }

    [Theory]
    [MemberData(nameof(Codings))]
    public void Decode_EncodedPicture_IsAlmostTheSame(SKEncodedImageFormat format, AllocatorKind kind)
    {
        using PixelStore store = Pictures.Store(kind);
        using Raster picture = Pictures.Smooth(store, 1000, 800);
        byte[] file = Pictures.Encode(picture, format);
        SourceHeader header = SourceHeader.Read(file, file.Length);

        using Raster decoded = header.Decode(file, store);

        Assert.Equal((format, picture.Size), (header.Format, header.Size));
        AssertClose(picture.Bytes, decoded.Bytes, tolerance: 20);
    }

    [Theory]
    [InlineData(AllocatorKind.Pool)]
    [InlineData(AllocatorKind.ArrayPool)]
    public void ResizeTo_SmoothPicture_IsThePictureOfThatSize(AllocatorKind kind)
    {
        using PixelStore store = Pictures.Store(kind);
        using Raster picture = Pictures.Smooth(store, 1200, 900);
        using Raster expected = Pictures.Smooth(store, 300, 225);
        using Raster resized = new(expected.Size, SKAlphaType.Opaque, store);

        picture.ResizeTo(resized);

        AssertClose(expected.Bytes, resized.Bytes, tolerance: 3);
    }

    [Fact]
    public void ResizeTo_SameSize_CopiesThePixels()
    {
        using PixelStore store = Pictures.Store();
        using Raster picture = Pictures.Smooth(store, 61, 47);
        using Raster copy = new(picture.Size, SKAlphaType.Opaque, store);

        picture.ResizeTo(copy);

        Assert.Equal(picture.Bytes.ToArray(), copy.Bytes.ToArray());
    }

    [Theory]
    [InlineData(SKEncodedImageFormat.Jpeg)]
    [InlineData(SKEncodedImageFormat.Png)]
    [InlineData(SKEncodedImageFormat.Webp)]
    public void Resize_TruncatedFile_IsRefusedAndLeavesNothing(SKEncodedImageFormat format)
    {
        using PixelStore store = Pictures.Store();
        byte[] file = Pictures.File(400, 300, format);

        foreach (int length in new[] { 0, 10, 100, file.Length / 3, file.Length / 2, file.Length * 3 / 4 })
        {
            Assert.Throws<UnreadablePictureException>(() =>
            {
                SourceHeader header = SourceHeader.Read(file.AsMemory(0, length), length);
                header.Resize(file.AsMemory(0, length), new PictureSize(40, 30), store).Dispose();
            });
        }

        Pictures.AssertNothingIsOut(store);
    }

    /// <summary>Skia itself reports success, with the scans that are there.</summary>
    [Fact]
    public void Decode_ProgressiveJpegWithoutItsLastScans_IsRefused()
    {
        using MagickImage picture = new(Pictures.File(400, 300, SKEncodedImageFormat.Png));
        picture.Settings.Interlace = Interlace.Jpeg;
        byte[] file = picture.ToByteArray(MagickFormat.Jpeg);
        SourceHeader header = SourceHeader.Read(file, file.Length);
        using PixelStore store = Pictures.Store();

        header.Decode(file, store).Dispose();
        Assert.True(PictureHeader.TryRead(file, out PictureHeader read) && read.IsProgressive);
        Assert.Throws<UnreadablePictureException>(() => header.Decode(file.AsMemory(0, file.Length * 3 / 4), store));
        Pictures.AssertNothingIsOut(store);
    }

    [Fact]
    public void Resize_TransparentPng_KeepsItsAlpha()
    {
        using PixelStore store = Pictures.Store();
        using Raster picture = new(new PictureSize(40, 30), SKAlphaType.Premul, store);
        picture.Bytes.Clear();
        byte[] file = Pictures.Encode(picture, SKEncodedImageFormat.Png);

        using Raster resized = SourceHeader.Read(file, file.Length).Resize(file, new PictureSize(4, 3), store);

        Assert.Equal(new byte[4 * 3 * Raster.BytesPerPixel], resized.Bytes.ToArray());
    }

    private static void AssertClose(ReadOnlySpan<byte> expected, ReadOnlySpan<byte> actual, int tolerance)
    {
        Assert.Equal(expected.Length, actual.Length);
        for (int i = 0; i < expected.Length; i++)
        {
            Assert.InRange(actual[i] - expected[i], -tolerance, tolerance);
        }
    }
}
