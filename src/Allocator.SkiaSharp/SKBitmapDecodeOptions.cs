namespace Allocator;

/// <summary>What a decoded bitmap is to be like, and what its job needs beside it. Not thread-safe while it is changed.</summary>
public sealed class SKBitmapDecodeOptions
{
    private long _workingBytes;

    /// <summary>
    /// Gets or sets the largest width and height of the bitmap, in pixels, as it is seen: after its orientation was applied. A larger
    /// picture is made smaller and keeps its proportions; a smaller one stays as it is. <see langword="null"/>: its own size.
    /// </summary>
    /// <remarks>JPEG and WebP shrink while they decode, which takes less time and memory. Others are decoded whole first.</remarks>
    public SKSizeI? LargestSize { get; set; }

    /// <summary>
    /// Gets or sets the colour type of the bitmap. <see langword="null"/>: <see cref="SKImageInfo.PlatformColorType"/>, or
    /// <see cref="SKColorType.Gray8"/> for a grey picture that the codec describes so.
    /// </summary>
    public SKColorType? ColorType { get; set; }

    /// <summary>
    /// Gets or sets what the job needs beside the bitmap after it was decoded, in bytes: the target of a resize, an encoder.
    /// <see cref="SkiaSharpMemory.DecodeBitmapAsync"/> reserves it with the picture, so that a job with a bitmap need not wait. 0 by
    /// default.
    /// </summary>
    /// <exception cref="ArgumentOutOfRangeException">The value is negative.</exception>
    public long WorkingBytes
    {
        get => _workingBytes;
        set
        {
            ArgumentOutOfRangeException.ThrowIfNegative(value);
            _workingBytes = value;
        }
    }
}
