namespace Measurements.Factors;

/// <summary>JPEG XL through libjxl, on one thread.</summary>
internal sealed class JxlFile(JxlCodec codec) : MeasuredCodec
{
    public static JxlFile? TryLoad() => JxlCodec.TryLoad(jpeg: null) is { } codec ? new JxlFile(codec) : null;

    public override bool Recognizes(ReadOnlySpan<byte> file) => codec.Recognizes(file);

    public override PictureSize ReadSize(ReadOnlyMemory<byte> file) => codec.ReadSize(file);

    /// <summary>Tells lossy pictures, which are stored in a space of colours of their own, from the others.</summary>
    public override string Describe(ReadOnlyMemory<byte> file) => $"libjxl, {(codec.ReadHeader(file).IsOriginal ? "lossless" : "lossy")}";

    public override Raster<Rgb24> Decode(ReadOnlyMemory<byte> file, PixelStore store) => Decode(codec, file, store);
}
