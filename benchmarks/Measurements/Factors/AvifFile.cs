namespace Measurements.Factors;

/// <summary>AVIF through libavif 0.11, with the decoder that it prefers (dav1d where it has it), on one thread.</summary>
internal sealed unsafe class AvifFile : MeasuredCodec
{
    private const string Library = "libavif";

    // avifImage of avif.h: width and height stand first. avifRGBImage is below; in the library's next version it has another layout,
    // under another name.
    private const string Name = "libavif.so.15";

    private readonly delegate* unmanaged<nint> _createDecoder;
    private readonly delegate* unmanaged<nint, void> _destroyDecoder;
    private readonly delegate* unmanaged<nint, nint, byte*, nuint, int> _read;
    private readonly delegate* unmanaged<nint> _createImage;
    private readonly delegate* unmanaged<nint, void> _destroyImage;
    private readonly delegate* unmanaged<RgbImage*, nint, void> _setDefaults;
    private readonly delegate* unmanaged<nint, RgbImage*, int> _toRgb;

    private AvifFile(nint library)
    {
        _createDecoder = (delegate* unmanaged<nint>)NativeLibrary.GetExport(library, "avifDecoderCreate");
        _destroyDecoder = (delegate* unmanaged<nint, void>)NativeLibrary.GetExport(library, "avifDecoderDestroy");
        _read = (delegate* unmanaged<nint, nint, byte*, nuint, int>)NativeLibrary.GetExport(library, "avifDecoderReadMemory");
        _createImage = (delegate* unmanaged<nint>)NativeLibrary.GetExport(library, "avifImageCreateEmpty");
        _destroyImage = (delegate* unmanaged<nint, void>)NativeLibrary.GetExport(library, "avifImageDestroy");
        _setDefaults = (delegate* unmanaged<RgbImage*, nint, void>)NativeLibrary.GetExport(library, "avifRGBImageSetDefaults");
        _toRgb = (delegate* unmanaged<nint, RgbImage*, int>)NativeLibrary.GetExport(library, "avifImageYUVToRGB");
    }

    public static AvifFile? TryLoad() => NativeLibrary.TryLoad(Name, out nint library) ? new AvifFile(library) : null;

    public override bool Recognizes(ReadOnlySpan<byte> file) => file.Length > 12 && file[4..].StartsWith("ftypavif"u8);

    /// <summary>
    /// Reads the boxes <c>ispe</c>, of which the largest is the picture's: others are those of its alpha and of thumbnails.
    /// </summary>
    public override PictureSize ReadSize(ReadOnlyMemory<byte> file)
    {
        ReadOnlySpan<byte> rest = file.Span[..Math.Min(64 * 1024, file.Length)];
        PictureSize largest = default;
        for (int i; (i = rest.IndexOf("ispe"u8)) >= 0 && i + 16 <= rest.Length; rest = rest[(i + 4)..])
        {
            PictureSize size =
                new(BinaryPrimitives.ReadInt32BigEndian(rest[(i + 8)..]), BinaryPrimitives.ReadInt32BigEndian(rest[(i + 12)..]));
            largest = size.Pixels > largest.Pixels ? size : largest;
        }

        Check(largest.Pixels > 0, Library, "the header has no size");
        return largest;
    }

    public override string Describe(ReadOnlyMemory<byte> file) => Library;

    public override Raster Decode(ReadOnlyMemory<byte> file, PixelStore store)
    {
        nint decoder = _createDecoder();
        nint image = _createImage();
        try
        {
            using (MemoryHandle pin = file.Pin())
            {
                Check(
                    decoder != 0 && image != 0 && _read(decoder, image, (byte*)pin.Pointer, (nuint)file.Length) == 0,
                    Library,
                    "the data is damaged");
            }

            PictureSize size = new(*(int*)image, *((int*)image + 1));
            return Fill(size, store, pixels =>
            {
                RgbImage rgb;
                _setDefaults(&rgb, image);
                fixed (byte* target = pixels)
                {
                    (rgb.Depth, rgb.Format, rgb.RowBytes) = (8, 1, (uint)(size.Width * Raster.BytesPerPixel));
                    rgb.Pixels = target;
                    Check(_toRgb(image, &rgb) == 0, Library, "it could not be turned into RGBA");
                }
            });
        }
        finally
        {
            _destroyImage(image);
            _destroyDecoder(decoder);
        }
    }

    // avifRGBImage of avif.h, version 0.11.
    [StructLayout(LayoutKind.Sequential)]
    private struct RgbImage
    {
        public uint Width;
        public uint Height;
        public uint Depth;
        public int Format;
        public int ChromaUpsampling;
        public int ChromaDownsampling;
        public int AvoidLibYuv;
        public int IgnoreAlpha;
        public int AlphaPremultiplied;
        public int IsFloat;
        public byte* Pixels;
        public uint RowBytes;
    }
}
