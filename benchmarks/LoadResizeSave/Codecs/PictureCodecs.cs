namespace LoadResizeSave.Codecs;

/// <summary>The formats that this machine can read, and the choice among them by what a file starts with.</summary>
internal sealed class PictureCodecs
{
    private readonly List<IPictureCodec> _codecs;

    /// <summary>Makes the set: PNG always, JPEG where the system has libjpeg-turbo and <paramref name="useLibjpeg"/> allows it.</summary>
    /// <param name="useAll">
    /// Whether PNG is decoded by libpng, and JPEG XL by libjxl, where the system has them. Measurements of the allocators leave them out.
    /// </param>
    /// <param name="useSkia">Whether JPEG, PNG and WebP are read and written by SkiaSharp, which no machine has to install.</param>
    public PictureCodecs(bool useLibjpeg = true, bool useAll = false, bool useSkia = false)
    {
        Png = new PngCodec();
        if (useSkia)
        {
            _codecs = [SkiaCodec.Jpeg, SkiaCodec.Png, SkiaCodec.WebP];
            WriterOfJpeg = SkiaCodec.Jpeg;
            WriterOfWebP = SkiaCodec.WebP;
            return;
        }

        Jpeg = useLibjpeg && TurboJpegLibrary.TryLoad() is { } library ? new JpegCodec(library) : null;
        IPictureCodec?[] codecs =
        [
            (useAll ? LibpngCodec.TryLoad() : null) ?? (IPictureCodec)Png, Jpeg, useAll ? JxlCodec.TryLoad(Jpeg) : null,
        ];
        _codecs = [.. codecs.OfType<IPictureCodec>()];
        WriterOfJpeg = Jpeg;
    }

    public PngCodec Png { get; }

    /// <summary>Gets libjpeg-turbo, where that is chosen and the system has it.</summary>
    public JpegCodec? Jpeg { get; }

    /// <summary>Gets what writes JPEGs, whatever it is.</summary>
    public IPictureCodec? WriterOfJpeg { get; }

    public IPictureCodec? WriterOfWebP { get; }

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
            JpegCodec.IsJpeg(file) ? "a JPEG, and libjpeg-turbo was not found" : "no picture of a format that is read here");
    }
}
