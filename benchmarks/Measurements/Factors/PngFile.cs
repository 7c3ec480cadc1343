namespace Measurements.Factors;

/// <summary>PNG through libpng's simplified interface, which never jumps over the frames of its caller.</summary>
internal sealed unsafe class PngFile : MeasuredCodec
{
    private const string Library = "libpng";
    private const uint Version = 1;
    private const uint FormatRgb = 2;
    private const int HeaderLength = 29;

    private readonly delegate* unmanaged<Image*, byte*, nuint, int> _begin;
    private readonly delegate* unmanaged<Image*, void*, void*, int, void*, int> _finish;
    private readonly delegate* unmanaged<Image*, void> _free;

    private PngFile(nint library)
    {
        _begin = (delegate* unmanaged<Image*, byte*, nuint, int>)NativeLibrary.GetExport(library, "png_image_begin_read_from_memory");
        _finish = (delegate* unmanaged<Image*, void*, void*, int, void*, int>)NativeLibrary.GetExport(library, "png_image_finish_read");
        _free = (delegate* unmanaged<Image*, void>)NativeLibrary.GetExport(library, "png_image_free");
    }

    public static PngFile? TryLoad() => NativeLibrary.TryLoad("libpng16.so.16", out nint library) ? new PngFile(library) : null;

    public override bool Recognizes(ReadOnlySpan<byte> file) =>
        file.Length > HeaderLength && file.StartsWith<byte>([0x89, (byte)'P', (byte)'N', (byte)'G']);

    public override PictureSize ReadSize(ReadOnlyMemory<byte> file)
        => new(BinaryPrimitives.ReadInt32BigEndian(file.Span[16..]), BinaryPrimitives.ReadInt32BigEndian(file.Span[20..]));

    public override string Describe(ReadOnlyMemory<byte> file)
    {
        ReadOnlySpan<byte> header = file.Span[..HeaderLength];
        string colour = header[25] switch
        {
            0 => "grey",
            2 => "RGB",
            3 => "palette",
            4 => "grey with alpha",
            _ => "RGBA",
        };
        return $"{Library}, {colour}{(header[24] == 16 ? ", 16 bits" : "")}{(header[28] == 0 ? "" : ", interlaced")}";
    }

    public override Raster<Rgb24> Decode(ReadOnlyMemory<byte> file, PixelStore store)
    {
        using MemoryHandle pin = file.Pin();
        Image image = new() { Version = Version };
        Check(_begin(&image, (byte*)pin.Pointer, (nuint)file.Length) != 0, Library, "the header is damaged");
        try
        {
            image.Format = FormatRgb;
            Image* read = &image;
            return Fill(new PictureSize((int)image.Width, (int)image.Height), store, pixels =>
            {
                fixed (Rgb24* target = pixels)
                {
                    // What is transparent is laid on white.
                    Rgb24 background = Rgb24.White;
                    Check(_finish(read, &background, target, 0, null) != 0, Library, "the data is damaged");
                }
            });
        }
        finally
        {
            _free(&image);
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
