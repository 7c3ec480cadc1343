namespace Allocator;

/// <summary>Works on the rows of two pixel buffers at once.</summary>
/// <typeparam name="TPixel">The pixel type of the first.</typeparam>
/// <typeparam name="TOther">The pixel type of the second.</typeparam>
/// <param name="accessor">The rows of the first.</param>
/// <param name="other">The rows of the second.</param>
public delegate void PixelRowsPairAction<TPixel, TOther>(scoped PixelAccessor<TPixel> accessor, scoped PixelAccessor<TOther> other)
    where TPixel : unmanaged
    where TOther : unmanaged;
