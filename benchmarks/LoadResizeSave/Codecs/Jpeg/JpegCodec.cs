namespace LoadResizeSave.Codecs.Jpeg;

/// <summary>
/// JPEG through libjpeg-turbo, which writes its rows straight into the store's memory. It wants them at one pitch, so pictures are
/// contiguous.
/// </summary>
/// <remarks>Embedded profiles and orientation are ignored. CMYK pictures are refused: the library turns them into no RGB.</remarks>
internal sealed unsafe class JpegCodec(TurboJpegLibrary library) : IPictureCodec
{
    private const int Quality = 90;

    // A picture with a warning is damaged or cut short, and a hostile one can hold thousands of scans that each cost a pass over all
    // pixels.
    private const int DecompressFlags = TurboJpegLibrary.FlagStopOnWarning | TurboJpegLibrary.FlagLimitScans;

    public string Extension => ".jpg";

    public bool NeedsContiguousPixels => true;

    public static bool IsJpeg(ReadOnlySpan<byte> file) => file.StartsWith<byte>([0xFF, 0xD8, 0xFF]);

    public bool Recognizes(ReadOnlySpan<byte> file) => IsJpeg(file);

    public PictureSize ReadSize(ReadOnlyMemory<byte> start)
    {
        using TurboJpegHandle decompressor = new(library, compress: false);
        using MemoryHandle pin = start.Pin();
        int width, height, subsampling, colourSpace;
        decompressor.Check(library.DecompressHeader(
            decompressor.Value, (byte*)pin.Pointer, new CULong((uint)start.Length), &width, &height, &subsampling, &colourSpace));
        return width > 0 && height > 0
            ? new PictureSize(width, height)
            : throw new UnreadablePictureException($"the header claims {width} x {height} pixels");
    }

    /// <summary>Returns true: how little a JPEG needs for a flat picture has no simple bound.</summary>
    public bool CouldHoldItsPixels(ReadOnlyMemory<byte> start, long fileLength) => true;

    public long EstimateDecoding(ReadOnlyMemory<byte> start, PixelStore store) => JpegFrame.Read(start.Span).DecoderBytes;

    public long EstimateEncoding(PictureSize size, PixelStore store)
        => store.Estimate<byte>(LargestFile(size.Width, size.Height)) + JpegFrame.WorkingBytes(size.Width);

    public void Decode(ReadOnlyMemory<byte> file, Raster<Rgb24> picture, PixelStore store)
    {
        // Before the library takes it: what lies idle goes for it, where memory is limited.
        using IDisposable? ofLibrary = store.CountExternal(JpegFrame.Read(file.Span).DecoderBytes);
        bool contiguous = picture.TryProcessPixels(pixels =>
        {
            using TurboJpegHandle decompressor = new(library, compress: false);
            using MemoryHandle pin = file.Pin();
            fixed (Rgb24* target = pixels)
            {
                decompressor.Check(library.Decompress(
                    decompressor.Value,
                    (byte*)pin.Pointer,
                    new CULong((uint)file.Length),
                    (byte*)target,
                    picture.Width,
                    checked(picture.Width * sizeof(Rgb24)),
                    picture.Height,
                    TurboJpegLibrary.PixelFormatRgb,
                    DecompressFlags));
            }
        });
        RequireContiguous(contiguous);
    }

    public void Encode(Raster<Rgb24> picture, Stream destination, PixelStore store)
    {
        using IMemoryOwner<byte> file = store.Allocate<byte>(LargestFile(picture.Width, picture.Height));
        int length = 0;
        bool contiguous = picture.TryProcessPixels(pixels => length = Compress(pixels, picture.Width, picture.Height, file.Memory));
        RequireContiguous(contiguous);
        destination.Write(file.Memory.Span[..length]);
    }

    private int LargestFile(int width, int height)
    {
        ulong bound = library.BufferSize(width, height, TurboJpegLibrary.Subsampling420).Value;
        return bound is > 0 && bound <= (ulong)Array.MaxLength
            ? (int)bound
            : throw new UnreadablePictureException($"{width} x {height} pixels are too many for a JPEG");
    }

    private int Compress(ReadOnlySpan<Rgb24> pixels, int width, int height, Memory<byte> file)
    {
        using TurboJpegHandle compressor = new(library, compress: true);
        using MemoryHandle pin = file.Pin();
        byte* start = (byte*)pin.Pointer;
        CULong length = new((uint)file.Length);
        fixed (Rgb24* source = pixels)
        {
            compressor.Check(library.Compress(
                compressor.Value,
                (byte*)source,
                width,
                checked(width * sizeof(Rgb24)),
                height,
                TurboJpegLibrary.PixelFormatRgb,
                &start,
                &length,
                TurboJpegLibrary.Subsampling420,
                Quality,
                TurboJpegLibrary.FlagNoReallocation | TurboJpegLibrary.FlagAccurateDct));
        }

        return checked((int)length.Value);
    }

    private static void RequireContiguous(bool contiguous)
    {
        if (!contiguous)
        {
            throw new InvalidOperationException("A JPEG picture must be one run of memory: allocate it as NeedsContiguousPixels asks.");
        }
    }
}
