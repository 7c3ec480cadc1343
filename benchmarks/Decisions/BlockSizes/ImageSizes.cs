using System;
using Decisions.Machines;

namespace Decisions.BlockSizes;

/// <summary>
/// Draws images as an image server meets them, from 1 to 100 MB: megapixels are log-normal around 8, shapes and pixel formats those of cameras and of
/// the buffers that processing needs. Always the same sequence for the same seed.
/// </summary>
internal sealed class ImageSizes
{
    private const double MedianMegapixels = 8;
    private const double Spread = 1.0;
    private const long Smallest = MemorySize.Megabyte + 1L;
    private const long Largest = 100L * MemorySize.Megabyte;

    private static readonly double[] s_aspects = [4.0 / 3, 3.0 / 2, 16.0 / 9, 1, 3.0 / 4, 2.0 / 3];

    // Grey, RGB, RGBA, and 16 bits a channel: three and four bytes most of the time.
    private static readonly int[] s_pixelBytes = [1, 3, 3, 3, 3, 4, 4, 4, 4, 8];

    private readonly Random _random;

    /// <summary>Starts a sequence.</summary>
    public ImageSizes(int seed) => _random = new Random(seed);

    /// <summary>Draws the next image.</summary>
    public ImageSize Next()
    {
        while (true)
        {
            double pixels = 1e6 * MedianMegapixels * Math.Exp(Spread * NextNormal());
            double aspect = s_aspects[_random.Next(s_aspects.Length)];
            int pixelBytes = s_pixelBytes[_random.Next(s_pixelBytes.Length)];
            ImageSize size = new((int)Math.Sqrt(pixels * aspect) * pixelBytes, (int)Math.Sqrt(pixels / aspect));
            if (size.Bytes is >= Smallest and <= Largest)
            {
                return size;
            }
        }
    }

    // Box and Muller's method: two uniform numbers make a normal one.
    private double NextNormal() => Math.Sqrt(-2 * Math.Log(1 - _random.NextDouble())) * Math.Cos(2 * Math.PI * _random.NextDouble());
}
