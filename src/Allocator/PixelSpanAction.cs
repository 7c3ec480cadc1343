using System;

namespace Allocator;

/// <summary>Works on all pixels of a buffer as one span, which is valid until the call returns.</summary>
/// <typeparam name="TPixel">The pixel type.</typeparam>
/// <param name="pixels">The pixels, row after row.</param>
public delegate void PixelSpanAction<TPixel>(scoped Span<TPixel> pixels)
    where TPixel : unmanaged;
