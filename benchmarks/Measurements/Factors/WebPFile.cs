namespace Measurements.Factors;

/// <summary>WebP through libwebp's call for a whole picture. Animations are refused by it.</summary>
internal sealed unsafe class WebPFile : MeasuredCodec
{
    private const string Library = "libwebp";

    private readonly delegate* unmanaged<byte*, nuint, int*, int*, int> _getInfo;
    private readonly delegate* unmanaged<byte*, nuint, byte*, nuint, int, byte*> _decode;

    private WebPFile(nint library)
    {
        _getInfo = (delegate* unmanaged<byte*, nuint, int*, int*, int>)NativeLibrary.GetExport(library, "WebPGetInfo");
        _decode = (delegate* unmanaged<byte*, nuint, byte*, nuint, int, byte*>)NativeLibrary.GetExport(library, "WebPDecodeRGBAInto");
    }

    public static WebPFile? TryLoad() => NativeLibrary.TryLoad("libwebp.so.7", out nint library) ? new WebPFile(library) : null;

    public override bool Recognizes(ReadOnlySpan<byte> file) =>
        file.Length > 30 && file.StartsWith("RIFF"u8) && file[8..].StartsWith("WEBP"u8);

    public override PictureSize ReadSize(ReadOnlyMemory<byte> file)
    {
        using MemoryHandle pin = file.Pin();
        int width, height;
        Check(_getInfo((byte*)pin.Pointer, (nuint)file.Length, &width, &height) != 0, Library, "the header is damaged");
        return new PictureSize(width, height);
    }

    public override string Describe(ReadOnlyMemory<byte> file) =>
        $"{Library}, {(file.Span.IndexOf("VP8L"u8) is >= 0 and < 4096 ? "lossless" : "lossy")}";

    public override Raster Decode(ReadOnlyMemory<byte> file, PixelStore store)
    {
        PictureSize size = ReadSize(file);
        return Fill(size, store, pixels =>
        {
            using MemoryHandle pin = file.Pin();
            fixed (byte* target = pixels)
            {
                Check(
                    null != _decode(
                        (byte*)pin.Pointer, (nuint)file.Length, target, (nuint)pixels.Length, size.Width * Raster.BytesPerPixel),
                    Library,
                    "the data is damaged");
            }
        });
    }
}
