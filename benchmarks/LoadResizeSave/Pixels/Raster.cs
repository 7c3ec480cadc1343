using SkiaSharp;

namespace LoadResizeSave.Pixels;

/// <summary>A picture in memory of a <see cref="PixelStore"/>: red, green, blue and alpha, as Skia reads and writes them.</summary>
internal sealed class Raster(PictureSize size, SKAlphaType alpha, PixelStore store) : IDisposable
{
    public const int BytesPerPixel = 4;

    private const int Quality = 90;

    // As Allocator.SkiaSharp resizes when it decodes to a much smaller size: all pixels count.
    private static readonly SKSamplingOptions s_sampling = new(SKFilterMode.Linear, SKMipmapMode.Linear);

    private readonly IMemoryOwner<byte> _owner = store.Allocate(checked((int)LengthOf(size)));

    public PictureSize Size => size;

    public Span<byte> Bytes => _owner.Memory.Span;

    public static long LengthOf(PictureSize size) => size.Pixels * BytesPerPixel;

    /// <summary>Returns what Skia takes from malloc for the mipmaps of a picture that it resizes.</summary>
    public static long MipmapBytes(PictureSize source) => (LengthOf(source) / 3) + (64 * 1024);

    /// <summary>Returns what Skia takes from malloc to encode: planes and several codings for WebP, rows for the others.</summary>
    public static long EncoderBytes(PictureSize size, SKEncodedImageFormat format)
        => format == SKEncodedImageFormat.Webp ? size.Pixels * 8 : (512 * 1024) + (size.Width * 64L);

    public SKCodecResult Decode(SKCodec codec)
    {
        using MemoryHandle pin = _owner.Memory.Pin();
        using SKBitmap bitmap = Wrap(pin);
        return codec.GetPixels(bitmap.Info, bitmap.GetPixels());
    }

    /// <summary>Fills <paramref name="target"/> with this picture, resized.</summary>
    public void ResizeTo(Raster target)
    {
        using IDisposable? mipmaps = store.CountExternal(MipmapBytes(size));
        using MemoryHandle pin = _owner.Memory.Pin();
        using MemoryHandle targetPin = target._owner.Memory.Pin();
        using SKBitmap bitmap = Wrap(pin);
        using SKBitmap targetBitmap = target.Wrap(targetPin);
        if (!bitmap.ScalePixels(targetBitmap, s_sampling))
        {
            throw new OutOfMemoryException($"Skia did not resize {size}.");
        }
    }

    /// <summary>Encodes to <paramref name="destination"/>; the same pixels always result in the same bytes.</summary>
    public void Encode(Stream destination, SKEncodedImageFormat format)
    {
        using IDisposable? encoder = store.CountExternal(EncoderBytes(size, format));
        using MemoryHandle pin = _owner.Memory.Pin();
        using SKBitmap bitmap = Wrap(pin);
        SkiaSharpMemory.Encode(bitmap, destination, format, Quality);
    }

    public void Dispose() => _owner.Dispose();

    private unsafe SKBitmap Wrap(in MemoryHandle pin)
    {
        SKBitmap bitmap = new();
        _ = bitmap.InstallPixels(new SKImageInfo(size.Width, size.Height, SKColorType.Rgba8888, alpha), (nint)pin.Pointer);
        return bitmap;
    }
}
