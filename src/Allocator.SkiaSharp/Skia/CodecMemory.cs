namespace Allocator.Skia;

/// <summary>
/// What Skia's codecs take from malloc besides the pixels. Measured with 3.119 and 4.155 for each kind of file; the tests measure it again.
/// </summary>
internal static class CodecMemory
{
    /// <summary>What every file takes: tables, small buffers, Skia's own objects.</summary>
    private const long Fixed = 128 * 1024;

    /// <summary>The rows that a codec holds: of planes, of pixels, and for upsampling.</summary>
    private const long OfAColumn = 48;

    /// <summary>The rows that libwebp keeps while it filters a lossy picture.</summary>
    private const long OfAColumnOfWebP = 96;

    public static long Estimate(ReadOnlySpan<byte> start, SKEncodedImageFormat format, int width, int height) =>
        Fixed + (width * (OfAColumn + (format == SKEncodedImageFormat.Webp ? OfAColumnOfWebP : 0)))
            // Other formats were not measured: assume a decoder that keeps a whole picture.
            + (PictureHeader.TryRead(start, out PictureHeader header) ? header.DecoderBytes
                : format == SKEncodedImageFormat.Wbmp ? 0
                : (long)width * height * 4);

    /// <summary>Returns what the codec adds if it does not write pixels of this colour type itself.</summary>
    public static long OfConversion(SKEncodedImageFormat format, SKImageInfo decoded) =>
        format is SKEncodedImageFormat.Webp or SKEncodedImageFormat.Gif
            && decoded.ColorType is not (SKColorType.Bgra8888 or SKColorType.Rgba8888 or SKColorType.Rgb565)
            ? (long)decoded.Width * decoded.Height * 4
            : 0;

    /// <summary>Returns what the codec adds for a frame that is drawn over earlier ones: a frame of its own.</summary>
    public static long OfLaterFrame(SKEncodedImageFormat format, SKImageInfo stored, int frameIndex) =>
        frameIndex > 0 && format is SKEncodedImageFormat.Webp or SKEncodedImageFormat.Gif ? (long)stored.Width * stored.Height * 4 : 0;
}
