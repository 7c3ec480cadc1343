namespace Measurements.Factors;

/// <summary>JPEG through libjpeg-turbo: its interface of one call for a picture.</summary>
internal sealed class JpegFile(JpegCodec codec) : MeasuredCodec
{
    public static JpegFile? TryLoad() => TurboJpegLibrary.TryLoad() is { } library ? new JpegFile(new JpegCodec(library)) : null;

    public override bool Recognizes(ReadOnlySpan<byte> file) => JpegCodec.IsJpeg(file);

    public override PictureSize ReadSize(ReadOnlyMemory<byte> file) => codec.ReadSize(file);

    public override string Describe(ReadOnlyMemory<byte> file)
    {
        JpegFrame frame = JpegFrame.Read(file.Span);
        double samples = (double)frame.Coefficients / ReadSize(file).Pixels;
        string sampling = samples switch
        {
            < 1.25 => "grey",
            < 1.75 => "4:2:0",
            < 2.5 => "4:2:2",
            _ => "4:4:4",
        };
        return $"libjpeg-turbo, {(frame.HasSeveralScans ? "progressive" : "baseline")} {sampling}";
    }

    public override Raster<Rgb24> Decode(ReadOnlyMemory<byte> file, PixelStore store) => Decode(codec, file, store);
}
