using Allocator;

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
