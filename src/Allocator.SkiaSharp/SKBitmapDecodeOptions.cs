namespace Allocator;

/// <summary>The options of a decoded bitmap, and of its job's memory. Not thread-safe while it is changed.</summary>
public sealed class SKBitmapDecodeOptions
{
    private long _workingBytes;
    private int _frameIndex;

    /// <summary>
    /// Gets or sets the largest width and height of the upright bitmap, in pixels, or <see langword="null"/> for no limit. A larger picture
    /// is scaled down and keeps its proportions; a smaller one keeps its size.
    /// </summary>
    /// <remarks>
    /// JPEG and WebP shrink while they decode, which takes less time and memory. Others are decoded whole first. Decoding to a side below 1
    /// throws <see cref="ArgumentOutOfRangeException"/>.
    /// </remarks>
    public SKSizeI? LargestSize { get; set; }

    /// <summary>
    /// Gets or sets the colour type of the bitmap. The default, <see langword="null"/>, is <see cref="SKImageInfo.PlatformColorType"/>, or
    /// <see cref="SKColorType.Gray8"/> if the codec reports a grey picture.
    /// </summary>
    /// <remarks>
    /// Skia's codecs write <see cref="SKColorType.Rgba8888"/>, <see cref="SKColorType.Bgra8888"/>, <see cref="SKColorType.Rgb565"/>,
    /// <see cref="SKColorType.Gray8"/> (of grey JPEGs), <see cref="SKColorType.RgbaF16"/> and, of opaque pictures,
    /// <see cref="SKColorType.Bgr101010xXR"/>. Any other type throws <see cref="NotSupportedException"/>,
    /// and <see cref="SKColorType.Unknown"/> <see cref="ArgumentException"/>: decode to the default, then
    /// convert with <see cref="SKBitmap.CopyTo(SKBitmap, SKColorType)"/>.
    /// </remarks>
    public SKColorType? ColorType { get; set; }

    /// <summary>
    /// Gets or sets the alpha type of the bitmap. The default, <see langword="null"/>, is <see cref="SKAlphaType.Opaque"/> for a picture
    /// without alpha, otherwise <see cref="SKAlphaType.Premul"/>, which canvases draw fastest. <see cref="SKAlphaType.Unpremul"/> keeps the
    /// colours that a PNG or WebP stores under transparent pixels.
    /// </summary>
    /// <remarks>
    /// Decoding a picture with alpha to <see cref="SKAlphaType.Opaque"/> throws <see cref="NotSupportedException"/>, and decoding to
    /// <see cref="SKAlphaType.Unknown"/> throws <see cref="ArgumentException"/>.
    /// </remarks>
    public SKAlphaType? AlphaType { get; set; }

    /// <summary>
    /// Gets or sets the colour space that the pixels are converted to, for instance <see cref="SKColorSpace.CreateSrgb"/>.
    /// The default, <see langword="null"/>, keeps the one that the file's profile describes, or sRGB if it has none.
    /// </summary>
    /// <remarks>
    /// You dispose it, but not before the decoding has ended; a disposed one throws <see cref="ObjectDisposedException"/>. A grey picture
    /// that is converted gets the default colour type, because Skia's codecs do not convert to <see cref="SKColorType.Gray8"/>.
    /// </remarks>
    public SKColorSpace? ColorSpace { get; set; }

    /// <summary>
    /// Gets or sets the frame of an animation (GIF, WebP), counted from 0, the default. The bitmap shows that frame together with the
    /// earlier frames it builds on, which are decoded too.
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
    /// Gets or sets whether a file that is cut off is decoded as far as possible. <see cref="PooledBitmap.IsIncomplete"/> then says so, and
    /// <see cref="PooledBitmap.DecodedRect"/> which rows there are. The default is <see langword="false"/>: such a file throws
    /// <see cref="InvalidDataException"/>.
    /// </summary>
    /// <remarks>A file without a single row, or a damaged one, still throws.</remarks>
    public bool AcceptIncomplete { get; set; }

    /// <summary>
    /// Gets or sets how much memory the job needs besides the bitmap after decoding, in bytes: for the target of a resize and an encoder,
    /// for instance. <see cref="SkiaSharpMemory.DecodeBitmapAsync"/> reserves it together with the picture, so that the job need not wait
    /// later. The default is 0.
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
