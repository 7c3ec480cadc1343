using Allocator.Integrations.Native;

namespace LoadResizeSave.Codecs.Jxl;

/// <summary>
/// JPEG XL through libjxl, on one thread, with the memory that it lets others give from the store. It is only decoded: thumbnails are
/// JPEGs.
/// </summary>
internal sealed unsafe class JxlCodec : IPictureCodec
{
    // Bytes a pixel that libjxl 0.7 takes of malloc, measured by Measurements factors: 3 for usual pictures, but 26 for what cjxl -m 1 and
    // -R 1 write, and the header does not tell these. Alpha takes 8.
    private const int ColourBytes = 27;
    private const int ExtraChannelBytes = 9;
    private const long FixedBytes = 4 << 20;

    private static readonly string[] s_names = [JpegXl.Library, "libjxl.so.0.11", "libjxl.so.0.10", "libjxl.so.0.9", "libjxl.so.0.8"];
    private static readonly nint s_library = Load();

    private readonly JpegCodec? _jpeg;

    private JxlCodec(JpegCodec? jpeg) => _jpeg = jpeg;

    public string Extension => ".jpg";

    public bool NeedsContiguousPixels => true;

    /// <summary>Returns the codec, or null where the system has no libjxl; <paramref name="jpeg"/> encodes for it.</summary>
    public static JxlCodec? TryLoad(JpegCodec? jpeg) => s_library == 0 ? null : new JxlCodec(jpeg);

    public bool Recognizes(ReadOnlySpan<byte> file) =>
        file.StartsWith<byte>([0xFF, 0x0A]) || (file.Length > 12 && file[4..].StartsWith("JXL "u8));

    public PictureSize ReadSize(ReadOnlyMemory<byte> start)
    {
        JpegXlHeader header = ReadHeader(start);
        return new PictureSize(header.Width, header.Height);
    }

    public JpegXlHeader ReadHeader(ReadOnlyMemory<byte> start)
    {
        JpegXlHeader header = default;
        Try(() => header = JpegXl.ReadHeader(start.Span));
        return header;
    }

    /// <summary>Returns true: how little a JPEG XL needs for a flat picture has no simple bound.</summary>
    public bool CouldHoldItsPixels(ReadOnlyMemory<byte> start, long fileLength) => true;

    public long EstimateDecoding(ReadOnlyMemory<byte> start, PixelStore store)
    {
        JpegXlHeader header = ReadHeader(start);
        long bytesPerPixel = ColourBytes + (ExtraChannelBytes * (long)header.ExtraChannels);
        return FixedBytes + ((long)header.Width * header.Height * bytesPerPixel);
    }

    public long EstimateEncoding(PictureSize size, PixelStore store) => Jpeg.EstimateEncoding(size, store);

    public void Decode(ReadOnlyMemory<byte> file, Raster<Rgb24> picture, PixelStore store)
    {
        using IDisposable? ofLibrary = store.CountExternal(EstimateDecoding(file, store));
        using NativeAllocationCallbacks? callbacks = store.CreateNativeCallbacks();
        bool isContiguous = picture.TryProcessPixels(pixels =>
        {
            fixed (Rgb24* target = pixels)
            {
                (nint address, int length) = ((nint)target, checked(pixels.Length * sizeof(Rgb24)));
                Try(() => JpegXl.DecodeInto(file.Span, new Span<byte>((void*)address, length), channels: 3, callbacks));
            }
        });
        Debug.Assert(isContiguous, "The store lent pixels in several runs, and was asked for one.");
    }

    public void Encode(Raster<Rgb24> picture, Stream destination, PixelStore store) => Jpeg.Encode(picture, destination, store);

    private JpegCodec Jpeg => _jpeg ?? throw new UnreadablePictureException("a JPEG XL, and libjpeg-turbo, which encodes, was not found");

    private static void Try(Action decode)
    {
        try
        {
            decode();
        }
        catch (InvalidDataException exception)
        {
            throw new UnreadablePictureException(exception.Message);
        }
    }

    // The sample's name is that of Debian 12; what it calls is the same in the later versions.
    private static nint Load()
    {
        nint library = 0;
        if (s_names.Any(name => NativeLibrary.TryLoad(name, out library)))
        {
            NativeLibrary.SetDllImportResolver(typeof(JpegXl).Assembly, (name, _, _) => name == JpegXl.Library ? library : 0);
        }

        return library;
    }
}
