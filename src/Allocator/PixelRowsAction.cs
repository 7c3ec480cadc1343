namespace Allocator;

/// <summary>Works on the rows of a pixel buffer. The accessor and its spans are valid until the call returns.</summary>
/// <typeparam name="TPixel">The pixel type.</typeparam>
/// <param name="accessor">The rows.</param>
public delegate void PixelRowsAction<TPixel>(scoped PixelAccessor<TPixel> accessor)
    where TPixel : unmanaged;

/// <summary>As <see cref="PixelRowsAction{TPixel}"/>, with a state that saves the caller a closure.</summary>
/// <typeparam name="TPixel">The pixel type.</typeparam>
/// <typeparam name="TState">The type of the state.</typeparam>
/// <param name="accessor">The rows.</param>
/// <param name="state">What the caller passed.</param>
public delegate void PixelRowsAction<TPixel, TState>(scoped PixelAccessor<TPixel> accessor, TState state)
    where TPixel : unmanaged;

/// <summary>Works on the rows of two pixel buffers at once.</summary>
/// <typeparam name="TPixel">The pixel type of the first.</typeparam>
/// <typeparam name="TOther">The pixel type of the second.</typeparam>
/// <param name="accessor">The rows of the first.</param>
/// <param name="other">The rows of the second.</param>
public delegate void PixelRowsPairAction<TPixel, TOther>(scoped PixelAccessor<TPixel> accessor, scoped PixelAccessor<TOther> other)
    where TPixel : unmanaged
    where TOther : unmanaged;

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

/// <summary>Works on all pixels of a buffer as one span, which is valid until the call returns.</summary>
/// <typeparam name="TPixel">The pixel type.</typeparam>
/// <param name="pixels">The pixels, row after row.</param>
public delegate void PixelSpanAction<TPixel>(scoped Span<TPixel> pixels)
    where TPixel : unmanaged;
