namespace Measurements.Factors;

/// <summary>A native library that decodes one file format to pixels of three bytes, which lie in the memory of a store.</summary>
internal abstract class MeasuredCodec
{
    public static IReadOnlyList<MeasuredCodec> Load()
    {
        MeasuredCodec?[] all = [JpegFile.TryLoad(), PngFile.TryLoad(), WebPFile.TryLoad(), JxlFile.TryLoad(), AvifFile.TryLoad()];
        return [.. all.OfType<MeasuredCodec>()];
    }

    public abstract bool Recognizes(ReadOnlySpan<byte> file);

    public abstract PictureSize ReadSize(ReadOnlyMemory<byte> file);

    /// <summary>
    /// Returns the name of the library and of the kind of file, as far as the kind decides how much memory decoding takes.
    /// </summary>
    public abstract string Describe(ReadOnlyMemory<byte> file);

    /// <summary>
    /// Decodes the picture, in memory of <paramref name="store"/> for the pixels; the library takes its own for the rest.
    /// </summary>
    public abstract Raster<Rgb24> Decode(ReadOnlyMemory<byte> file, PixelStore store);

    /// <summary>
    /// Decodes by a codec of the main job. The store is not told of the library's own memory: that is to show in the process.
    /// </summary>
    protected static Raster<Rgb24> Decode(IPictureCodec codec, ReadOnlyMemory<byte> file, PixelStore store)
    {
        PictureSize size = codec.ReadSize(file);
        Raster<Rgb24> picture = store.AllocatePixels<Rgb24>(size.Width, size.Height, contiguous: true);
        try
        {
            codec.Decode(file, picture, new UncountedStore(store));
            return picture;
        }
        catch
        {
            picture.Dispose();
            throw;
        }
    }

    protected static Raster<Rgb24> Fill(PictureSize size, PixelStore store, FillPixels fill)
    {
        Raster<Rgb24> picture = store.AllocatePixels<Rgb24>(size.Width, size.Height, contiguous: true);
        try
        {
            if (!picture.TryProcessPixels(pixels => fill(pixels)))
            {
                throw new InvalidOperationException("The store lent pixels in several runs, and was asked for one.");
            }

            return picture;
        }
        catch
        {
            picture.Dispose();
            throw;
        }
    }

    protected static void Check(bool succeeded, string library, string what)
    {
        if (!succeeded)
        {
            throw new UnreadablePictureException($"{library}: {what}");
        }
    }

    protected delegate void FillPixels(Span<Rgb24> pixels);
}
