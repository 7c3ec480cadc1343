namespace Allocator.Skia;

/// <summary>The steps from a file to the requested bitmap, and the most memory that they take at once.</summary>
internal sealed class DecodePlan
{
    /// <summary>How many rows are decoded at once, if they are turned: enough that whole cache lines of the target are written.</summary>
    public const int RowsOfStrip = 16;

    private readonly long _workingBytes;

    // What it is if the end of the file says that the picture is turned; null if that cannot be.
    private readonly DecodePlan? _ifTurned;

    public DecodePlan(CodecHeader header, SKBitmapDecodeOptions? options)
    {
        SKImageInfo stored = header.Info;
        Format = header.Format;
        Origin = header.Origin;
        bool isTurned = IsTurned(Origin);
        SKSizeI seen = isTurned ? new SKSizeI(stored.Height, stored.Width) : stored.Size;
        SKSizeI size = Fit(seen, options?.LargestSize);
        SKSizeI target = isTurned ? new SKSizeI(size.Height, size.Width) : size;

        SKSizeI decoded = ShrunkByCodec(header.Format, stored.Size, target);
        SKColorSpace? colorSpace = ColorSpace(options) ?? stored.ColorSpace;
        bool isConverted =
            colorSpace is not null && stored.ColorSpace is not null && !SKColorSpace.Equal(colorSpace, stored.ColorSpace);
        Decoded = new SKImageInfo(
            decoded.Width, decoded.Height, ColorType(stored, options, isConverted), AlphaType(stored, options), colorSpace);
        FrameIndex = options?.FrameIndex ?? 0;
        AcceptsIncomplete = options?.AcceptIncomplete ?? false;
        IsInStrips = header.Format == SKEncodedImageFormat.Jpeg && Origin != SKEncodedOrigin.TopLeft;
        Scaled = decoded == target ? null : IsInStrips ? Decoded.WithSize(size) : Decoded.WithSize(target);
        CodecBytes = header.CodecBytes + CodecMemory.OfConversion(header.Format, Decoded)
            + CodecMemory.OfLaterFrame(header.Format, stored, FrameIndex);
        _workingBytes = options?.WorkingBytes ?? 0;
        _ifTurned = header.MayBeTurned ? new DecodePlan(header.Turned(), options) : null;
    }

    public SKEncodedImageFormat Format { get; }

    public SKEncodedOrigin Origin { get; }

    /// <summary>Gets the bitmap that the codec decodes, before it is turned.</summary>
    public SKImageInfo Decoded { get; }

    /// <summary>Gets the frame of an animation, from 0.</summary>
    public int FrameIndex { get; }

    /// <summary>Gets whether a file that is cut off is decoded as far as it goes.</summary>
    public bool AcceptsIncomplete { get; }

    /// <summary>
    /// Gets how the memory of the decoded pixels is allocated: clean if the codec may leave some of them as they are. In complete pictures
    /// it writes each pixel, with the colour types that are accepted here.
    /// </summary>
    public AllocationOptions DecodedMemory => AcceptsIncomplete ? AllocationOptions.Clean : AllocationOptions.None;

    /// <summary>Gets whether the codec delivers a few rows at a time, which are turned: no second picture is needed.</summary>
    public bool IsInStrips { get; }

    /// <summary>Gets the decoded bitmap that is then made smaller; null if none is.</summary>
    public SKImageInfo? Scaled { get; }

    /// <summary>Gets whether a whole picture is turned into another one at the end.</summary>
    public bool IsTurnedAtEnd => Origin != SKEncodedOrigin.TopLeft && !IsInStrips;

    /// <summary>Gets the bytes of malloc's memory that are announced while the codec works.</summary>
    public long CodecBytes { get; }

    /// <summary>Gets the bytes of the mipmaps that Skia makes of a picture that becomes much smaller.</summary>
    public long ScalingBytes => Scaled is { } scaled && Scaling.NeedsMipmaps(Decoded, scaled) ? Scaling.MipmapBytes(Decoded) : 0;

    public static bool IsTurned(SKEncodedOrigin origin) => origin >= SKEncodedOrigin.LeftTop;

    /// <summary>Returns the most that is outstanding at once, whatever the rest of the file says.</summary>
    public long Estimate(MemoryAllocator allocator, long sourceBytes)
    {
        long decoded = Of(allocator, Decoded);

        // For a JPEG without its end marker, rows are compared before they count.
        long strip = Format == SKEncodedImageFormat.Jpeg ? allocator.EstimateBytes((long)Decoded.RowBytes * RowsOfStrip) : 0;
        long most = Add(allocator.EstimateBytes(Math.Min(sourceBytes, Array.MaxLength)), decoded, strip, CodecBytes);
        long last = decoded;
        if (Scaled is { } scaled)
        {
            last = Of(allocator, scaled);
            most = Math.Max(most, Add(decoded, last, ScalingBytes));
        }

        if (IsTurnedAtEnd)
        {
            most = Math.Max(most, Add(last, last));
        }

        most = Math.Max(most, _ifTurned?.Estimate(allocator, sourceBytes) ?? 0);

        // Bounded like all estimates of the library, so that sixteen of them can be added.
        return Math.Min(Math.Max(most, Add(last, _workingBytes)), long.MaxValue / 16);
    }

    /// <summary>Returns where the first or last rows of the stored picture are in the upright bitmap, which may be smaller.</summary>
    /// <param name="bitmap">The size of the bitmap.</param>
    /// <param name="rows">The rows that were decoded, of <see cref="Decoded"/>.</param>
    /// <param name="isBottomUp">Whether they are the last rows of the picture.</param>
    public SKRectI Seen(SKSizeI bitmap, int rows, bool isBottomUp)
    {
        bool isTurned = IsTurned(Origin);
        int length = isTurned ? bitmap.Width : bitmap.Height;
        int seen = (int)((long)rows * length / Decoded.Height);
        bool isReversed = Origin is SKEncodedOrigin.BottomRight or SKEncodedOrigin.BottomLeft
            or SKEncodedOrigin.RightTop or SKEncodedOrigin.RightBottom;
        int from = isReversed == isBottomUp ? 0 : length - seen;
        return isTurned
            ? new SKRectI(from, 0, from + seen, bitmap.Height)
            : new SKRectI(0, from, bitmap.Width, from + seen);
    }

    private static SKColorType ColorType(SKImageInfo stored, SKBitmapDecodeOptions? options, bool isConverted)
    {
        switch (options?.ColorType)
        {
            case null:
                // The codecs convert no colours to grey.
                return stored.ColorType == SKColorType.Gray8 && !isConverted ? SKColorType.Gray8 : SKImageInfo.PlatformColorType;
            case SKColorType.Unknown:
                throw new ArgumentException(
                    $"{nameof(SKBitmapDecodeOptions.ColorType)} is {options.ColorType}, which has no pixels. "
                    + "Leave it null for the default.",
                    nameof(options));
            case SKColorType.Rgba8888 or SKColorType.Bgra8888 or SKColorType.Rgb565 or SKColorType.Gray8
                or SKColorType.RgbaF16 or SKColorType.Bgr101010xXR:
                return options.ColorType.Value;
            default:
                // For some of these Skia writes only a part of each pixel and reports success.
                throw new NotSupportedException(
                    $"Skia's codecs do not decode to {options.ColorType}. Leave {nameof(SKBitmapDecodeOptions)}."
                    + $"{nameof(SKBitmapDecodeOptions.ColorType)} null, and convert the bitmap.");
        }
    }

    private static SKAlphaType AlphaType(SKImageInfo stored, SKBitmapDecodeOptions? options)
    {
        // A later frame may have alpha where the first has none.
        bool isOpaque = stored.AlphaType == SKAlphaType.Opaque && options is null or { FrameIndex: 0 };
        return options?.AlphaType switch
        {
            null => isOpaque ? SKAlphaType.Opaque : SKAlphaType.Premul,
            SKAlphaType.Unknown => throw new ArgumentException(
                $"{nameof(SKBitmapDecodeOptions.AlphaType)} is {options.AlphaType}. Leave it null for the default.", nameof(options)),
            SKAlphaType.Opaque when stored.AlphaType != SKAlphaType.Opaque => throw new NotSupportedException(
                $"The picture has alpha, and Skia's codecs do not remove it. Leave {nameof(SKBitmapDecodeOptions)}."
                + $"{nameof(SKBitmapDecodeOptions.AlphaType)} null, and draw the bitmap on an opaque one."),
            { } asked => asked,
        };
    }

    private static SKColorSpace? ColorSpace(SKBitmapDecodeOptions? options)
    {
        SKColorSpace? colorSpace = options?.ColorSpace;
        ObjectDisposedException.ThrowIf(colorSpace is { Handle: 0 }, typeof(SKColorSpace));
        return colorSpace;
    }

    // If it is too large for any machine, the estimate is the largest there is.
    private static long Add(params ReadOnlySpan<long> parts)
    {
        long sum = 0;
        foreach (long part in parts)
        {
            sum = part > long.MaxValue - sum ? long.MaxValue : sum + part;
        }

        return sum;
    }

    private static long Of(MemoryAllocator allocator, SKImageInfo info) => allocator.EstimateBytes(info.BytesSize64);

    private static SKSizeI Fit(SKSizeI size, SKSizeI? largest)
    {
        if (largest is not { } limit)
        {
            return size;
        }

        if (limit.Width < 1 || limit.Height < 1)
        {
            throw new ArgumentOutOfRangeException(
                nameof(SKBitmapDecodeOptions.LargestSize), limit, "The width and the height must be at least 1.");
        }

        double factor = Math.Min((double)limit.Width / size.Width, (double)limit.Height / size.Height);
        return factor >= 1 ? size : new SKSizeI(Scale(size.Width, factor, limit.Width), Scale(size.Height, factor, limit.Height));
    }

    private static int Scale(int length, double factor, int limit) => Math.Clamp((int)Math.Round(length * factor), 1, limit);

    // The smallest size that the codec can decode to, and that is not smaller than the target.
    private static SKSizeI ShrunkByCodec(SKEncodedImageFormat format, SKSizeI stored, SKSizeI target)
    {
        switch (format)
        {
            case SKEncodedImageFormat.Webp:
                return target;
            case SKEncodedImageFormat.Jpeg:
                for (int eighths = 1; eighths < 8; eighths++)
                {
                    SKSizeI size = new(Eighths(stored.Width, eighths), Eighths(stored.Height, eighths));
                    if (size.Width >= target.Width && size.Height >= target.Height)
                    {
                        return size;
                    }
                }

                return stored;
            default:
                return stored;
        }
    }

    private static int Eighths(int length, int eighths) => (int)((((long)length * eighths) + 7) / 8);
}
