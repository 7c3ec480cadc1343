namespace Measurements.Factors;

/// <summary>Two landscapes, as PNG and as JPEG, for machines without photographs: they show that the program works.</summary>
internal static class SyntheticPictures
{
    private const uint Seed = 11;
    private const int Grain = 2;

    public static void Make(string folder)
    {
        _ = Directory.CreateDirectory(folder);
        PictureCodecs codecs = new(useLibjpeg: true);
        foreach ((int width, int height) in (ReadOnlySpan<(int, int)>)[(2400, 1600), (240, 160)])
        {
            using PixelStore store = PixelStore.Create(AllocatorKind.GC, TimeSpan.FromMinutes(1));
            using Raster<Rgb24> picture = store.AllocatePixels<Rgb24>(width, height, contiguous: true);
            Landscape landscape = new(Seed, width, height, Grain);
            picture.ProcessRows(rows =>
            {
                for (int y = 0; y < rows.Height; y++)
                {
                    landscape.DrawRow(y, rows[y]);
                }
            });
            Save(codecs.Png, picture, folder, store);
            if (codecs.Jpeg is { } jpeg)
            {
                Save(jpeg, picture, folder, store);
            }
        }
    }

    private static void Save(IPictureCodec codec, Raster<Rgb24> picture, string folder, PixelStore store)
    {
        using FileStream file = File.Create(Path.Combine(folder, $"{picture.Width}x{picture.Height}{codec.Extension}"));
        codec.Encode(picture, file, store);
    }
}
