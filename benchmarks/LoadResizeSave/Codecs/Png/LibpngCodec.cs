namespace LoadResizeSave.Codecs.Png;

/// <summary>
/// PNG read by libpng's simplified interface, which never jumps over the frames of its caller, and written by this program's encoder.
/// </summary>
internal sealed unsafe class LibpngCodec : IPictureCodec
{
    private const string Library = "libpng";
    private const uint Version = 1;
    private const uint FormatRgb = 2;

    // Rows of up to eight bytes a pixel in the forms that they are converted through, and what libpng and zlib take for themselves.
    private const int WorkingRowBytes = 4 * 8;
    private const long FixedBytes = 256 * 1024;

    private static readonly PngCodec s_own = new();

    private readonly delegate* unmanaged<Image*, byte*, nuint, int> _begin;
    private readonly delegate* unmanaged<Image*, void*, void*, int, void*, int> _finish;
    private readonly delegate* unmanaged<Image*, void> _free;

    private LibpngCodec(nint library)
    {
        _begin = (delegate* unmanaged<Image*, byte*, nuint, int>)NativeLibrary.GetExport(library, "png_image_begin_read_from_memory");
        _finish = (delegate* unmanaged<Image*, void*, void*, int, void*, int>)NativeLibrary.GetExport(library, "png_image_finish_read");
        _free = (delegate* unmanaged<Image*, void>)NativeLibrary.GetExport(library, "png_image_free");
    }

    public string Extension => s_own.Extension;

    public bool NeedsContiguousPixels => true;

    public static LibpngCodec? TryLoad() => NativeLibrary.TryLoad("libpng16.so.16", out nint library) ? new LibpngCodec(library) : null;

    public bool Recognizes(ReadOnlySpan<byte> file) => s_own.Recognizes(file);

    public PictureSize ReadSize(ReadOnlyMemory<byte> start)
    {
        PngHeader header = PngHeader.Read(new PngChunkReader(start), readsInterlaced: true);
        return new PictureSize(header.Width, header.Height);
    }

    public bool CouldHoldItsPixels(ReadOnlyMemory<byte> start, long fileLength) => s_own.CouldHoldItsPixels(start, fileLength);

    public long EstimateDecoding(ReadOnlyMemory<byte> start, PixelStore store)
        => FixedBytes + (WorkingRowBytes * (long)ReadSize(start).Width);

    public long EstimateEncoding(PictureSize size, PixelStore store) => s_own.EstimateEncoding(size, store);

    public void Decode(ReadOnlyMemory<byte> file, Raster<Rgb24> picture, PixelStore store)
    {
        using IDisposable? ofLibrary = store.CountExternal(EstimateDecoding(file, store));
        using MemoryHandle pin = file.Pin();
        Image image = new() { Version = Version };
        Check(_begin(&image, (byte*)pin.Pointer, (nuint)file.Length));
        try
        {
            image.Format = FormatRgb;
            Image* read = &image;
            bool isContiguous = picture.TryProcessPixels(pixels =>
            {
                Debug.Assert(pixels.Length == read->Width * read->Height, "The picture has another size than the file.");
                fixed (Rgb24* target = pixels)
                {
                    // What is transparent is laid on white.
                    Rgb24 background = Rgb24.White;
                    Check(_finish(read, &background, target, 0, null));
                }
            });
            Debug.Assert(isContiguous, "The store lent pixels in several runs, and was asked for one.");
        }
        finally
        {
            _free(&image);
        }
    }

    public void Encode(Raster<Rgb24> picture, Stream destination, PixelStore store) => s_own.Encode(picture, destination, store);

    private static void Check(int result)
    {
        if (result == 0)
        {
            throw new UnreadablePictureException($"{Library}: the data is damaged");
        }
    }

    // png_image of png.h.
    [StructLayout(LayoutKind.Sequential)]
    private struct Image
    {
        public nint Opaque;
        public uint Version;
        public uint Width;
        public uint Height;
        public uint Format;
        public uint Flags;
        public uint ColormapEntries;
        public uint WarningOrError;
        public fixed byte Message[64];
    }
}
