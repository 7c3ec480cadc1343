namespace LoadResizeSave.Pixels;

/// <summary>A picture in memory that some <see cref="PixelStore"/> lent; disposing it gives the memory back.</summary>
internal abstract class Raster<TPixel> : IDisposable
    where TPixel : unmanaged
{
    public abstract int Width { get; }

    public abstract int Height { get; }

    public abstract void ProcessRows(RowsAction<TPixel> action);

    /// <summary>
    /// Runs <paramref name="action"/> on the rows of this raster and of <paramref name="other"/>, which must be of the same store.
    /// </summary>
    public abstract void ProcessRows<TOther>(Raster<TOther> other, RowsPairAction<TPixel, TOther> action)
        where TOther : unmanaged;

    /// <summary>
    /// Runs <paramref name="action"/> on all pixels as one packed span; returns false, and does not run it, where they are not one.
    /// </summary>
    public abstract bool TryProcessPixels(PixelSpanAction<TPixel> action);

    public abstract void Dispose();
}

/// <summary>
/// One pixel of eight bits a channel, in the order in which PNG and libjpeg-turbo store it, so that rows are copied as they are.
/// </summary>
[StructLayout(LayoutKind.Sequential, Pack = 1)]
internal readonly record struct Rgb24(byte R, byte G, byte B)
{
    public static Rgb24 White => new(255, 255, 255);
}

/// <summary>Works on the rows of one raster.</summary>
internal delegate void RowsAction<TPixel>(scoped PixelRows<TPixel> rows)
    where TPixel : unmanaged;

/// <summary>Works on the rows of two rasters at once.</summary>
internal delegate void RowsPairAction<TPixel, TOther>(scoped PixelRows<TPixel> rows, scoped PixelRows<TOther> otherRows)
    where TPixel : unmanaged
    where TOther : unmanaged;

/// <summary>
/// Gives the rows of a <see cref="Raster{TPixel}"/> for as long as its delegate runs, whether they lie in the blocks of an allocator or in
/// one array.
/// </summary>
internal readonly ref struct PixelRows<TPixel>
    where TPixel : unmanaged
{
    private readonly PixelAccessor<TPixel> _accessor;
    private readonly Span<TPixel> _pixels;

    public PixelRows(PixelAccessor<TPixel> accessor)
    {
        _accessor = accessor;
        Width = accessor.Width;
        Height = accessor.Height;
    }

    public PixelRows(Span<TPixel> pixels, int width, int height)
    {
        _pixels = pixels;
        Width = width;
        Height = height;
    }

    public int Width { get; }

    public int Height { get; }

    public Span<TPixel> this[int y] => _pixels.IsEmpty ? _accessor.GetRowSpan(y) : _pixels.Slice(checked(y * Width), Width);
}
