using SkiaSharp;

namespace LoadResizeSave.Tests;

/// <summary>Pictures in memory, and as files.</summary>
internal static class Pictures
{
    public static PixelStore Store(AllocatorKind kind = AllocatorKind.Pool) => PixelStore.Create(kind, TimeSpan.FromMinutes(1));

    /// <summary>A picture without sharp edges.</summary>
    public static Raster Smooth(PixelStore store, int width, int height)
    {
        Raster picture = new(new PictureSize(width, height), SKAlphaType.Opaque, store);
        for (int y = 0; y < height; y++)
        {
            for (int x = 0; x < width; x++)
            {
                (int red, int green, int blue) = (x * 250 / width, y * 250 / height, (x + y) * 250 / (width + height));
                ReadOnlySpan<byte> pixel = [(byte)red, (byte)green, (byte)blue, 255];
                pixel.CopyTo(picture.Bytes[(Raster.BytesPerPixel * ((y * width) + x))..]);
            }
        }

        return picture;
    }

    public static byte[] Encode(Raster picture, SKEncodedImageFormat format)
    {
        using MemoryStream file = new();
        picture.Encode(file, format);
        return file.ToArray();
    }

    /// <summary>The file of a smooth picture.</summary>
    public static byte[] File(int width, int height, SKEncodedImageFormat format)
    {
        using AlignedStore store = new();
        using Raster picture = Smooth(store, width, height);
        return Encode(picture, format);
    }

    public static void AssertNothingIsOut(PixelStore store) => Assert.Equal(0, store.Statistics?.OutstandingAllocations ?? 0);
}
