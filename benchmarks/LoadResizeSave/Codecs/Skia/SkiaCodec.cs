using SkiaSharp;

namespace LoadResizeSave.Codecs.Skia;

/// <summary>
/// A format that SkiaSharp reads and writes: a package, so nothing has to be installed. Skia has no pixels of three bytes, so rows pass
/// through memory of the store: a few for a JPEG, and all for the others, which Skia does not decode by rows.
/// </summary>
/// <remarks>Embedded profiles and orientation are ignored, as by the other codecs.</remarks>
internal sealed class SkiaCodec : IPictureCodec
{
    private const int Quality = 90;
    private const int RowsOfStrip = 16;
    private const int BytesOfPixel = 4;

    private readonly SKEncodedImageFormat _format;

    private SkiaCodec(SKEncodedImageFormat format, string extension)
    {
        _format = format;
        Extension = extension;
    }

    public static SkiaCodec Jpeg { get; } = new(SKEncodedImageFormat.Jpeg, ".jpg");

    public static SkiaCodec Png { get; } = new(SKEncodedImageFormat.Png, ".png");

    public static SkiaCodec WebP { get; } = new(SKEncodedImageFormat.Webp, ".webp");

    public string Extension { get; }

    public bool NeedsContiguousPixels => false;

    public bool Recognizes(ReadOnlySpan<byte> file) => _format switch
    {
        SKEncodedImageFormat.Jpeg => file.StartsWith<byte>([0xFF, 0xD8, 0xFF]),
        SKEncodedImageFormat.Png => file.StartsWith<byte>([0x89, (byte)'P', (byte)'N', (byte)'G']),
        _ => file.StartsWith("RIFF"u8) && file.Length >= 12 && file[8..].StartsWith("WEBP"u8),
    };

    public PictureSize ReadSize(ReadOnlyMemory<byte> start)
    {
        using OpenFile file = new(start);
        return new PictureSize(file.Codec.Info.Width, file.Codec.Info.Height);
    }

    /// <summary>Returns true: Skia says what is missing when it decodes.</summary>
    public bool CouldHoldItsPixels(ReadOnlyMemory<byte> start, long fileLength) => true;

    public long EstimateDecoding(ReadOnlyMemory<byte> start, PixelStore store)
    {
        PictureSize size = ReadSize(start);
        return store.Estimate<byte>(LengthOfRows(size.Width, RowsAtOnce(size.Height))) + ExternalBytes(start, size);
    }

    public long EstimateEncoding(PictureSize size, PixelStore store) =>
        store.Estimate<byte>(LengthOfRows(size.Width, size.Height)) + EncoderBytes(size.Width, size.Height);

    public void Decode(ReadOnlyMemory<byte> file, Raster<Rgb24> picture, PixelStore store)
    {
        int rowsAtOnce = RowsAtOnce(picture.Height);
        using IDisposable? ofSkia = store.CountExternal(ExternalBytes(file, new PictureSize(picture.Width, picture.Height)));
        using IMemoryOwner<byte> rows = store.Allocate<byte>(LengthOfRows(picture.Width, rowsAtOnce));
        using MemoryHandle pin = rows.Memory.Pin();
        using OpenFile open = new(file);
        nint address = Address(pin);
        SKImageInfo info = Info(picture.Width, picture.Height);
        bool isInStrips = rowsAtOnce < picture.Height;
        Check(isInStrips ? open.Codec.StartScanlineDecode(info) : open.Codec.GetPixels(info, address));
        picture.ProcessRows(target =>
        {
            for (int y = 0; y < target.Height; y += rowsAtOnce)
            {
                int count = Math.Min(rowsAtOnce, target.Height - y);
                if (isInStrips && open.Codec.GetScanlines(address, count, info.RowBytes) < count)
                {
                    Check(SKCodecResult.IncompleteInput);
                }

                for (int i = 0; i < count; i++)
                {
                    Span<byte> row = rows.Memory.Span.Slice(i * info.RowBytes, info.RowBytes);
                    Narrow(MemoryMarshal.Cast<byte, Rgba32>(row), target[y + i]);
                }
            }
        });
    }

    public void Encode(Raster<Rgb24> picture, Stream destination, PixelStore store)
    {
        using IDisposable? ofSkia = store.CountExternal(EncoderBytes(picture.Width, picture.Height));
        using IMemoryOwner<byte> pixels = store.Allocate<byte>(LengthOfRows(picture.Width, picture.Height));
        SKImageInfo info = Info(picture.Width, picture.Height);
        picture.ProcessRows(source =>
        {
            Span<Rgba32> target = MemoryMarshal.Cast<byte, Rgba32>(pixels.Memory.Span);
            for (int y = 0; y < source.Height; y++)
            {
                Widen(source[y], target.Slice(y * source.Width, source.Width));
            }
        });
        using MemoryHandle pin = pixels.Memory.Pin();
        using SKBitmap bitmap = new();
        _ = bitmap.InstallPixels(info, Address(pin));
        SkiaSharpMemory.Encode(bitmap, destination, _format, Quality);
    }

    private static SKImageInfo Info(int width, int height) => new(width, height, SKColorType.Rgba8888, SKAlphaType.Opaque);

    private static unsafe nint Address(in MemoryHandle pin) => (nint)pin.Pointer;

    private static void Check(SKCodecResult result)
    {
        if (result != SKCodecResult.Success)
        {
            throw new UnreadablePictureException($"Skia: {result}");
        }
    }

    private static int LengthOfRows(int width, int rows) => checked(width * rows * BytesOfPixel);

    // What the package knows of the codecs, less the file and the pixels.
    private static long ExternalBytes(ReadOnlyMemory<byte> start, PictureSize size)
    {
        MemoryAllocator allocator = MemoryAllocator.Default;
        long whole = allocator.EstimateBitmapBytes(start.Span, new SKBitmapDecodeOptions { ColorType = SKColorType.Rgba8888 });
        return Math.Max(0, whole - allocator.EstimateBytes(size.Pixels * BytesOfPixel) - allocator.EstimateBytes(start.Length));
    }

    // WebP's encoder keeps planes and what it tries; the others some rows.
    private long EncoderBytes(int width, int height) =>
        _format == SKEncodedImageFormat.Webp ? (long)width * height * 8 : (512 * 1024) + (width * 64L);

    private int RowsAtOnce(int height) => _format == SKEncodedImageFormat.Jpeg ? Math.Min(RowsOfStrip, height) : height;

    private static void Narrow(ReadOnlySpan<Rgba32> source, Span<Rgb24> target)
    {
        for (int x = 0; x < source.Length && x < target.Length; x++)
        {
            target[x] = source[x].Colour;
        }
    }

    private static void Widen(ReadOnlySpan<Rgb24> source, Span<Rgba32> target)
    {
        for (int x = 0; x < source.Length && x < target.Length; x++)
        {
            target[x] = new Rgba32(source[x], byte.MaxValue);
        }
    }

    [StructLayout(LayoutKind.Sequential, Pack = 1)]
    private readonly record struct Rgba32(Rgb24 Colour, byte Alpha);

    /// <summary>Skia's codec over a file in memory: it calls no managed code.</summary>
    private sealed class OpenFile : IDisposable
    {
        private readonly MemoryHandle _pin;
        private readonly SKData _data;

        public unsafe OpenFile(ReadOnlyMemory<byte> file)
        {
            _pin = file.Pin();
            _data = SKData.Create((nint)_pin.Pointer, file.Length);
            SKCodec? codec = SKCodec.Create(new SKMemoryStream(_data), out SKCodecResult result);
            if (codec is null)
            {
                _data.Dispose();
                _pin.Dispose();
                throw new UnreadablePictureException($"Skia: {result}");
            }

            Codec = codec;
        }

        public SKCodec Codec { get; }

        public void Dispose()
        {
            Codec.Dispose();
            _data.Dispose();
            _pin.Dispose();
        }
    }
}
