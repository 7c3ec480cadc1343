namespace LoadResizeSave.Pictures;

/// <summary>A picture made smaller, with all memory from one store.</summary>
internal static class PictureReduction
{
    /// <summary>Returns the size at a width of <paramref name="width"/>; narrower pictures keep theirs.</summary>
    public static PictureSize Fit(PictureSize size, int width)
        => size.Width <= width
            ? size
            : new PictureSize(
                width, (int)Math.Max(1, Math.Round((double)size.Height * width / size.Width, MidpointRounding.AwayFromZero)));

    public static Raster<Rgb24> Reduce(PictureHeader header, ReadOnlyMemory<byte> file, PictureSize target, PixelStore store)
    {
        Raster<Rgb24> reduced = store.AllocatePixels<Rgb24>(target.Width, target.Height, header.Codec.NeedsContiguousPixels);
        try
        {
            // Disposed before the small one is encoded.
            using Raster<Rgb24> source = store.AllocatePixels<Rgb24>(
                header.Size.Width, header.Size.Height, header.Codec.NeedsContiguousPixels);
            header.Codec.Decode(file, source, store);
            LanczosResizer.Resize(source, reduced, store);
            return reduced;
        }
        catch
        {
            reduced.Dispose();
            throw;
        }
    }
}
