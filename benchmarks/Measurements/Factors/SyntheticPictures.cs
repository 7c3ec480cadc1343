using SkiaSharp;

namespace Measurements.Factors;

/// <summary>Two landscapes, as WebP and as JPEG, for machines without photographs: they show that the program works.</summary>
internal static class SyntheticPictures
{
    private const uint Seed = 11;

    public static void Make(string folder)
    {
        _ = Directory.CreateDirectory(folder);
        foreach (PictureSize size in (ReadOnlySpan<PictureSize>)[new(2400, 1600), new(240, 160)])
        {
            foreach (SKEncodedImageFormat format in new[] { SKEncodedImageFormat.Webp, SKEncodedImageFormat.Jpeg })
            {
                string name = $"{size.Width}x{size.Height}{PictureHeader.ExtensionOf(format)}";
                SyntheticSet.MakeOne(Path.Combine(folder, name), Seed, size, format);
            }
        }
    }
}
