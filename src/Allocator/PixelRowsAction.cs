namespace Allocator;

/// <summary>
/// Works on the rows of a pixel buffer. The accessor, and every span it gives, is valid until the call returns; the compiler refuses to
/// let it out.
/// </summary>
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
