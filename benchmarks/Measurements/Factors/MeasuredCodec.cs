using SkiaSharp;

namespace Measurements.Factors;

/// <summary>A native library that decodes one file format to pixels of four bytes, which lie in the memory of a store.</summary>
internal abstract class MeasuredCodec
{
    public static IReadOnlyList<MeasuredCodec> Load()
    {
        MeasuredCodec?[] all = [WebPFile.TryLoad(), AvifFile.TryLoad()];
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
    public abstract Raster Decode(ReadOnlyMemory<byte> file, PixelStore store);

    protected static Raster Fill(PictureSize size, PixelStore store, FillPixels fill)
    {
        Raster picture = new(size, SKAlphaType.Opaque, store);
        try
        {
            fill(picture.Bytes);
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

    protected delegate void FillPixels(Span<byte> pixels);
}
