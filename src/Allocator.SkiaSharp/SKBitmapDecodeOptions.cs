namespace Allocator;

/// <summary>The options of a decoded bitmap, and of its job's memory. Not thread-safe while it is changed.</summary>
public sealed class SKBitmapDecodeOptions
{
    private long _workingBytes;
    private int _frameIndex;

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
    /// <remarks>
    /// Skia's codecs write <see cref="SKColorType.Rgba8888"/>, <see cref="SKColorType.Bgra8888"/>, <see cref="SKColorType.Rgb565"/>,
    /// <see cref="SKColorType.Gray8"/> (of grey JPEGs), <see cref="SKColorType.RgbaF16"/> and, of opaque pictures,
    /// <see cref="SKColorType.Bgr101010xXR"/>. Any other type throws <see cref="NotSupportedException"/>: decode to the default, then
    /// convert with <see cref="SKBitmap.CopyTo(SKBitmap, SKColorType)"/>.
    /// </remarks>
    public SKColorType? ColorType { get; set; }

    /// <summary>
    /// Gets or sets the alpha type of the bitmap. <see langword="null"/>: <see cref="SKAlphaType.Opaque"/> for a picture without alpha,
    /// otherwise <see cref="SKAlphaType.Premul"/>, which canvases draw fastest. <see cref="SKAlphaType.Unpremul"/> keeps the colours that
    /// a PNG or WebP stores under transparent pixels.
    /// </summary>
    /// <remarks>
    /// Decoding a picture with alpha to <see cref="SKAlphaType.Opaque"/> throws <see cref="NotSupportedException"/>, and decoding to
    /// <see cref="SKAlphaType.Unknown"/> throws <see cref="ArgumentException"/>.
    /// </remarks>
    public SKAlphaType? AlphaType { get; set; }

    /// <summary>
    /// Gets or sets the colour space that the pixels are converted to, for instance <see cref="SKColorSpace.CreateSrgb"/>.
    /// <see langword="null"/>: the one that the file's profile describes, without a conversion, or sRGB if it has none.
    /// </summary>
    /// <remarks>
    /// It stays yours: the bitmap has a reference of its own. Do not dispose it before the decoding has ended; a disposed one throws
    /// <see cref="ObjectDisposedException"/>. A grey picture that is converted gets the default colour type, because Skia's codecs do not
    /// convert to <see cref="SKColorType.Gray8"/>.
    /// </remarks>
    public SKColorSpace? ColorSpace { get; set; }

    /// <summary>
    /// Gets or sets the frame of an animation (GIF, WebP), counted from 0, the default. The bitmap is what is seen while that frame is
    /// shown: with the earlier frames that it builds on, which are decoded too.
    /// </summary>
    /// <remarks>If the file has fewer frames, decoding throws <see cref="ArgumentOutOfRangeException"/>.</remarks>
    /// <exception cref="ArgumentOutOfRangeException">The value is negative.</exception>
    public int FrameIndex
    {
        get => _frameIndex;
        set
        {
            ArgumentOutOfRangeException.ThrowIfNegative(value);
            _frameIndex = value;
        }
    }

    /// <summary>
    /// Gets or sets whether a file that is cut off gives a bitmap of the part that is there. <see cref="PooledBitmap.IsIncomplete"/> says
    /// so, and <see cref="PooledBitmap.DecodedRect"/> which rows. <see langword="false"/> by default:
    /// <see cref="InvalidDataException"/>.
    /// </summary>
    /// <remarks>A file without a single row, or a damaged one, still throws.</remarks>
    public bool AcceptIncomplete { get; set; }

    /// <summary>
    /// Gets or sets the memory that the job needs beside the bitmap after it was decoded, in bytes: the target of a resize, an encoder.
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
