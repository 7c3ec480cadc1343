using SkiaSharp;

namespace LoadResizeSave.Pictures;

/// <summary>The size that a file's header claims.</summary>
internal readonly record struct PictureSize(int Width, int Height)
{
    public long Pixels => (long)Width * Height;

    public double Megapixels => Pixels / 1e6;

    /// <summary>Returns the size at a width of <paramref name="width"/>; narrower pictures keep theirs.</summary>
    public PictureSize FitWidth(int width) => Width <= width
        ? this
        : new PictureSize(width, (int)Math.Max(1, Math.Round((double)Height * width / Width, MidpointRounding.AwayFromZero)));
}

/// <summary>A file cannot be decoded; the message tells the user why. The file is then reported and skipped.</summary>
internal sealed class UnreadablePictureException(string reason) : Exception(reason);

/// <summary>What the start of a JPEG, PNG or WebP says about its picture, and the memory that work on it takes.</summary>
/// <remarks>SkiaSharp's codec reads and writes these formats. Embedded profiles and the orientation are ignored.</remarks>
internal sealed class SourceHeader
{
    /// <summary>How much of a file is read at first to find its header.</summary>
    public const int UsualLength = 64 * 1024;

    /// <summary>How much is read if that is not enough: cameras put whole pictures before the picture.</summary>
    public const int LongestLength = 1024 * 1024;

    private static readonly SKBitmapDecodeOptions s_estimated = new() { ColorType = SKColorType.Rgba8888 };

    private readonly long _fileLength;
    private readonly long _codecBytes;
    private readonly SKAlphaType _alpha;

    private SourceHeader(SKCodec codec, ReadOnlySpan<byte> start, long fileLength)
    {
        Format = codec.EncodedFormat;
        Size = new PictureSize(codec.Info.Width, codec.Info.Height);
        _alpha = codec.Info.AlphaType == SKAlphaType.Opaque ? SKAlphaType.Opaque : SKAlphaType.Premul;
        _fileLength = fileLength;
        MemoryAllocator allocator = MemoryAllocator.Default;
        long whole = allocator.EstimateBitmapBytes(start, s_estimated);
        _codecBytes = Math.Max(0, whole - allocator.EstimateBytes(Raster.LengthOf(Size)) - allocator.EstimateBytes(start.Length));
    }

    public SKEncodedImageFormat Format { get; }

    public PictureSize Size { get; }

    public string Extension => ExtensionOf(Format);

    public static string ExtensionOf(SKEncodedImageFormat format) => format switch
    {
        SKEncodedImageFormat.Jpeg => ".jpg",
        SKEncodedImageFormat.Png => ".png",
        _ => ".webp",
    };

    /// <summary>Reads the header from <paramref name="start"/> of a file of <paramref name="fileLength"/> bytes.</summary>
    public static SourceHeader Read(ReadOnlyMemory<byte> start, long fileLength)
    {
        using OpenPicture open = new(start);
        try
        {
            return open.Codec.EncodedFormat is SKEncodedImageFormat.Jpeg or SKEncodedImageFormat.Png or SKEncodedImageFormat.Webp
                ? new SourceHeader(open.Codec, start.Span, fileLength)
                : throw new UnreadablePictureException($"{open.Codec.EncodedFormat} is not read here");
        }
        catch (InvalidDataException exception)
        {
            throw new UnreadablePictureException(exception.Message);
        }
    }

    /// <summary>Refuses a picture that is too large, before its pixels are allocated.</summary>
    public void Check(int maximumMegapixels)
    {
        if (Size.Megapixels > maximumMegapixels)
        {
            throw new UnreadablePictureException(
                $"the header claims {Size.Width} x {Size.Height} pixels, {Size.Megapixels:N0} million; the limit is "
                    + $"{maximumMegapixels} million");
        }
    }

    /// <summary>
    /// Returns how much memory of <paramref name="store"/> it takes at most to hold the file and resize its picture to
    /// <paramref name="target"/>.
    /// </summary>
    public long Estimate(PictureSize target, PixelStore store)
        => store.Estimate(_fileLength) + store.Estimate(Raster.LengthOf(Size)) + store.Estimate(Raster.LengthOf(target))
            + Math.Max(_codecBytes, Math.Max(Raster.MipmapBytes(Size), Raster.EncoderBytes(target, Format)));

    public Raster Decode(ReadOnlyMemory<byte> file, PixelStore store)
    {
        Raster picture = new(Size, _alpha, store);
        try
        {
            using IDisposable? codec = store.CountExternal(_codecBytes);
            using OpenPicture open = new(file);
            SKCodecResult result = IsCutOffJpeg(file.Span) ? SKCodecResult.IncompleteInput : picture.Decode(open.Codec);
            return result == SKCodecResult.Success ? picture : throw new UnreadablePictureException($"Skia: {result}");
        }
        catch
        {
            picture.Dispose();
            throw;
        }
    }

    /// <summary>Decodes and resizes; the large picture is returned before the small one is encoded.</summary>
    public Raster Resize(ReadOnlyMemory<byte> file, PictureSize target, PixelStore store)
    {
        Raster resized = new(target, _alpha, store);
        try
        {
            using Raster source = Decode(file, store);
            source.ResizeTo(resized);
            return resized;
        }
        catch
        {
            resized.Dispose();
            throw;
        }
    }

    // Skia reports success for a progressive JPEG without its last scans: the mark of the end has to follow the last start of a scan.
    private bool IsCutOffJpeg(ReadOnlySpan<byte> file)
        => Format == SKEncodedImageFormat.Jpeg
            && file.LastIndexOf((ReadOnlySpan<byte>)[0xFF, 0xD9]) < file.LastIndexOf((ReadOnlySpan<byte>)[0xFF, 0xDA]);

    /// <summary>Skia's codec over a file in memory: it calls no managed code.</summary>
    private sealed class OpenPicture : IDisposable
    {
        private readonly MemoryHandle _pin;
        private readonly SKData _data;

        public unsafe OpenPicture(ReadOnlyMemory<byte> file)
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
