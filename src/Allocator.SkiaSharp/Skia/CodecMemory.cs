using System.Buffers.Binary;

namespace Allocator.Skia;

/// <summary>
/// What Skia's codecs take from malloc, beside the pixels that they are given. Measured with 3.119 and 4.155 for each kind of file; the
/// tests measure it again.
/// </summary>
internal static class CodecMemory
{
    /// <summary>What every file takes: tables, small buffers, Skia's own objects.</summary>
    private const long Fixed = 128 * 1024;

    /// <summary>The rows that a codec holds: of planes, of pixels, and for upsampling.</summary>
    private const long OfAColumn = 48;

    /// <summary>The rows that libwebp keeps while it filters a lossy picture.</summary>
    private const long OfAColumnOfWebP = 96;

    public static long Estimate(ReadOnlySpan<byte> start, SKEncodedImageFormat format, int width, int height)
    {
        long pixels = (long)width * height;
        return Fixed + (width * OfAColumn) + format switch
        {
            SKEncodedImageFormat.Jpeg => JpegHeader.CoefficientBytes(start),
            SKEncodedImageFormat.Png => IsInterlacedPng(start) ? pixels * BytesOfPngPixel(start) : 0,
            SKEncodedImageFormat.Webp => (width * OfAColumnOfWebP) + OfWebP(start, pixels),
            SKEncodedImageFormat.Gif or SKEncodedImageFormat.Bmp or SKEncodedImageFormat.Wbmp => 0,
            // Never measured: what a decoder that keeps a whole picture takes.
            _ => pixels * 4,
        };
    }

    /// <summary>Returns what the codec adds if it does not write pixels of this colour type itself.</summary>
    public static long OfConversion(SKEncodedImageFormat format, SKImageInfo decoded) =>
        format is SKEncodedImageFormat.Webp or SKEncodedImageFormat.Gif
            && decoded.ColorType is not (SKColorType.Bgra8888 or SKColorType.Rgba8888 or SKColorType.Rgb565)
            ? (long)decoded.Width * decoded.Height * 4
            : 0;

    /// <summary>Returns what the codec adds for a frame that is drawn over earlier ones: a frame of its own.</summary>
    public static long OfLaterFrame(SKEncodedImageFormat format, SKImageInfo stored, int frameIndex) =>
        frameIndex > 0 && format is SKEncodedImageFormat.Webp or SKEncodedImageFormat.Gif ? (long)stored.Width * stored.Height * 4 : 0;

    // The eight bytes of the signature, then IHDR: length, type, width, height, depth, colour type, compression, filter, interlacing.
    private static bool IsInterlacedPng(ReadOnlySpan<byte> start) => start.Length > 28 && start[28] == 1;

    private static int BytesOfPngPixel(ReadOnlySpan<byte> start)
    {
        // Grey, RGB, a palette, grey with alpha, RGB with alpha.
        int channels = start[25] switch { 2 => 3, 4 => 4, 6 => 4, _ => 1 };
        return channels * (start[24] == 16 ? 2 : 1);
    }

    // The plane itself. The lowest two bits say whether it is compressed. If so, its decoder takes a byte for each pixel of a
    // palette, and otherwise four bytes.
    private static long OfAlpha(ReadOnlySpan<byte> chunk, long pixels)
    {
        const int hasPalette = 0b111;
        return chunk.Length < 10 ? pixels * 25 / 4
            : (chunk[8] & 3) == 0 ? pixels * 5 / 4
            : (chunk[9] & hasPalette) == hasPalette ? pixels * 31 / 10
            : pixels * 25 / 4;
    }

    private static long OfWebP(ReadOnlySpan<byte> start, long pixels)
    {
        long bytes = 0;

        // RIFF, its length, WEBP; then chunks of a name, a length and an even number of bytes.
        for (long at = 12; at + 8 <= start.Length;)
        {
            ReadOnlySpan<byte> chunk = start[(int)at..];
            if (chunk.StartsWith("VP8L"u8))
            {
                // All pixels at once, and the decoder's tables and caches.
                return (pixels * 22 / 5) + bytes;
            }

            if (chunk.StartsWith("ANMF"u8))
            {
                // Of an animation the first frame counts, which may be of either kind, and has alpha.
                return pixels * 25 / 4;
            }

            if (chunk.StartsWith("ALPH"u8))
            {
                bytes += OfAlpha(chunk, pixels);
            }
            else if (chunk.StartsWith("VP8 "u8))
            {
                return bytes;
            }

            long length = BinaryPrimitives.ReadUInt32LittleEndian(chunk[4..]);
            at += 8 + length + (length & 1);
        }

        return bytes;
    }
}
