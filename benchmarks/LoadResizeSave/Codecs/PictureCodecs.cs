namespace LoadResizeSave.Codecs;

/// <summary>The formats that this machine can read, and the choice among them by what a file starts with.</summary>
internal sealed class PictureCodecs
{
    private readonly List<IPictureCodec> _codecs;

    /// <summary>Makes the set: PNG always, JPEG where the system has libjpeg-turbo and <paramref name="useLibjpeg"/> allows it.</summary>
    public PictureCodecs(bool useLibjpeg = true)
    {
        Png = new PngCodec();
        Jpeg = useLibjpeg && TurboJpegLibrary.TryLoad() is { } library ? new JpegCodec(library) : null;
        _codecs = Jpeg is null ? [Png] : [Png, Jpeg];
    }

    public PngCodec Png { get; }

    public JpegCodec? Jpeg { get; }

    public IPictureCodec Recognize(ReadOnlySpan<byte> file)
    {
        foreach (IPictureCodec codec in _codecs)
        {
            if (codec.Recognizes(file))
            {
                return codec;
            }
        }

        throw new UnreadablePictureException(
            JpegCodec.IsJpeg(file) ? "a JPEG, and libjpeg-turbo was not found" : "neither PNG nor JPEG");
    }
}
