namespace Measurements.Factors;

/// <summary>PNG through libpng.</summary>
internal sealed class PngFile(LibpngCodec codec) : MeasuredCodec
{
    private const int HeaderLength = 29;

    public static PngFile? TryLoad() => LibpngCodec.TryLoad() is { } codec ? new PngFile(codec) : null;

    public override bool Recognizes(ReadOnlySpan<byte> file) => file.Length > HeaderLength && codec.Recognizes(file);

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
        return $"libpng, {colour}{(header[24] == 16 ? ", 16 bits" : "")}{(header[28] == 0 ? "" : ", interlaced")}";
    }

    public override Raster<Rgb24> Decode(ReadOnlyMemory<byte> file, PixelStore store) => Decode(codec, file, store);
}
