namespace Allocator.Skia;

/// <summary>How decoded pictures are made smaller.</summary>
internal static class Scaling
{
    /// <summary>The factor beyond which filters of four pixels would skip pixels.</summary>
    private const int LargestWithoutMipmaps = 2;

    public static bool NeedsMipmaps(SKImageInfo source, SKImageInfo target) =>
        source.Width > (long)target.Width * LargestWithoutMipmaps || source.Height > (long)target.Height * LargestWithoutMipmaps;

    /// <summary>Returns what Skia takes from malloc for the mipmaps of a picture: a quarter, a sixteenth, and so on.</summary>
    public static long MipmapBytes(SKImageInfo source) => (source.BytesSize64 / 3) + (64 * 1024);

    public static SKSamplingOptions Sampling(SKImageInfo source, SKImageInfo target) =>
        NeedsMipmaps(source, target)
            ? new SKSamplingOptions(SKFilterMode.Linear, SKMipmapMode.Linear)
            : new SKSamplingOptions(SKCubicResampler.Mitchell);
}
