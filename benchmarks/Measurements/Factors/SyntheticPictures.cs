using ImageMagick;
using SkiaSharp;

namespace Measurements.Factors;

/// <summary>Clouds as JPEG, with one scan and with several, PNG and WebP, for machines without photographs.</summary>
internal static class SyntheticPictures
{
    public static void Make(string folder)
    {
        _ = Directory.CreateDirectory(folder);
        foreach ((int width, int height) in (ReadOnlySpan<(int, int)>)[(2400, 1600), (240, 160)])
        {
            using SKBitmap picture = new(width, height);
            using SKCanvas canvas = new(picture);
            using SKPaint paint = new() { Shader = SKShader.CreatePerlinNoiseFractalNoise(0.01f, 0.01f, 6, 11) };
            canvas.Clear(SKColors.SteelBlue);
            canvas.DrawPaint(paint);
            string path = Path.Combine(folder, Invariant($"{width}x{height}"));
            foreach (SKEncodedImageFormat format in (SKEncodedImageFormat[])[
                SKEncodedImageFormat.Jpeg, SKEncodedImageFormat.Png, SKEncodedImageFormat.Webp])
            {
                using FileStream file = File.Create($"{path}.{format.ToString().ToLowerInvariant()}");
                _ = picture.Encode(file, format, 90);
            }

            using MagickImage image = new(path + ".jpeg");
            image.Settings.Interlace = Interlace.Jpeg;
            image.Write(path + "-progressive.jpeg");
        }
    }
}
