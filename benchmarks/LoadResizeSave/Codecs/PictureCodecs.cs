using LoadResizeSave.Codecs.Jpeg;
using LoadResizeSave.Codecs.Png;

namespace LoadResizeSave.Codecs;

/// <summary>The formats that this machine can read, and the choice among them by what a file starts with.</summary>
internal sealed class PictureCodecs
{
    private readonly List<IPictureCodec> _codecs;
    private readonly bool _useLibjpeg;

    /// <summary>Makes the set: PNG always, JPEG where the system has libjpeg-turbo and <paramref name="useLibjpeg"/> allows it.</summary>
    public PictureCodecs(bool useLibjpeg)
    {
        _useLibjpeg = useLibjpeg;
        Png = new PngCodec();
        Jpeg = useLibjpeg && TurboJpegLibrary.TryLoad() is { } library ? new JpegCodec(library) : null;
        _codecs = Jpeg is null ? [Png] : [Png, Jpeg];
    }

    public PngCodec Png { get; }

    public JpegCodec? Jpeg { get; }

    /// <exception cref="UnreadablePictureException">No codec knows it.</exception>
    public IPictureCodec Recognize(ReadOnlySpan<byte> file)
    {
        foreach (IPictureCodec codec in _codecs)
        {
            if (codec.Recognizes(file))
            {
                return codec;
            }
        }

        throw new UnreadablePictureException((JpegCodec.IsJpeg(file), _useLibjpeg) switch
        {
            (false, _) => "neither PNG nor JPEG",
            (true, true) => "a JPEG, and libjpeg-turbo was not found",
            (true, false) => "a JPEG, and libjpeg-turbo is not to be used",
        });
    }
}
