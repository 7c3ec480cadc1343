namespace Allocator;

/// <summary>Works on the rows of three pixel buffers at once.</summary>
/// <typeparam name="TPixel">The pixel type of the first.</typeparam>
/// <typeparam name="TSecond">The pixel type of the second.</typeparam>
/// <typeparam name="TThird">The pixel type of the third.</typeparam>
/// <param name="accessor">The rows of the first.</param>
/// <param name="second">The rows of the second.</param>
/// <param name="third">The rows of the third.</param>
public delegate void PixelRowsTripleAction<TPixel, TSecond, TThird>(
    scoped PixelAccessor<TPixel> accessor, scoped PixelAccessor<TSecond> second, scoped PixelAccessor<TThird> third)
    where TPixel : unmanaged
    where TSecond : unmanaged
    where TThird : unmanaged;
