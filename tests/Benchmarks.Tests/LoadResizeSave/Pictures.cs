namespace LoadResizeSave.Tests;

/// <summary>Short ways to pictures in memory.</summary>
internal static class Pictures
{
    public static PixelStore Store(AllocatorKind kind = AllocatorKind.Pool) =>
        PixelStore.Create(kind, TimeSpan.FromMinutes(1));

    public static Raster<Rgb24> Make(PixelStore store, int width, int height, Func<int, int, Rgb24> pixel, bool contiguous = false)
    {
        Raster<Rgb24> raster = store.AllocatePixels<Rgb24>(width, height, contiguous);
        raster.ProcessRows(rows =>
        {
            for (int y = 0; y < rows.Height; y++)
            {
                for (int x = 0; x < rows.Width; x++)
                {
                    rows[y][x] = pixel(x, y);
                }
            }
        });
        return raster;
    }

    public static Rgb24[] ToArray(Raster<Rgb24> raster)
    {
        Rgb24[] pixels = new Rgb24[raster.Width * raster.Height];
        raster.ProcessRows(rows =>
        {
            for (int y = 0; y < rows.Height; y++)
            {
                rows[y].CopyTo(pixels.AsSpan(y * rows.Width));
            }
        });
        return pixels;
    }

    public static Rgb24[] Decode(IPictureCodec codec, byte[] file, PixelStore store)
    {
        PictureSize size = codec.ReadSize(file);
        using Raster<Rgb24> picture = store.AllocatePixels<Rgb24>(size.Width, size.Height, codec.NeedsContiguousPixels);
        codec.Decode(file, picture, store);
        return ToArray(picture);
    }

    public static byte[] Encode(IPictureCodec codec, Raster<Rgb24> picture, PixelStore store)
    {
        using MemoryStream file = new();
        codec.Encode(picture, file, store);
        return file.ToArray();
    }

    /// <summary>Asserts that all that was lent came back.</summary>
    public static void AssertNothingIsOut(PixelStore store) => Xunit.Assert.Equal(0, store.Statistics?.OutstandingAllocations ?? 0);

    /// <summary>A picture in which every pixel differs from its neighbours.</summary>
    public static Rgb24 Pattern(int x, int y) => new((byte)((x * 7) + y), (byte)(x ^ (3 * y)), (byte)((x * y) + (x >> 2)));
}
