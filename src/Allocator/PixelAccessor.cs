using System;
using System.Runtime.CompilerServices;
using Allocator.Lifetime;

namespace Allocator;

/// <summary>Reaches the rows of a pixel buffer, or of a band of it, while a delegate runs.</summary>
/// <typeparam name="TPixel">The pixel type.</typeparam>
public readonly ref struct PixelAccessor<TPixel>
    where TPixel : unmanaged
{
    private readonly Span<TPixel> _single;
    private readonly nint[]? _origins;
    private readonly RowMap _map;
    private readonly int _rowStride;

    internal PixelAccessor(Span<TPixel> single, nint[]? origins, in RowMap map, int width, int rowStride, int firstRow, int height)
    {
        _single = single;
        _origins = origins;
        _map = map;
        _rowStride = rowStride;
        Width = width;
        FirstRow = firstRow;
        Height = height;
    }

    /// <summary>Gets the width in pixels.</summary>
    public int Width { get; }

    /// <summary>Gets the number of rows that can be reached: all of the buffer, or those of one band.</summary>
    public int Height { get; }

    /// <summary>Gets the buffer's row that row 0 of this accessor is: 0, except in <see cref="PixelBuffer{TPixel}.ProcessPixelRowsInParallel"/>.</summary>
    public int FirstRow { get; }

    /// <summary>Gives the pixels of one row. Costs a few instructions, the same for one block of memory and for many.</summary>
    /// <param name="y">From 0 to <see cref="Height"/> - 1.</param>
    /// <exception cref="ArgumentOutOfRangeException"><paramref name="y"/> is not in that range.</exception>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public unsafe Span<TPixel> GetRowSpan(int y)
    {
        if ((uint)y >= (uint)Height)
        {
            Throw.RowOutOfRange(y, Height);
        }

        y += FirstRow;
        return _origins is null
            ? _single.Slice(y * _rowStride, Width)
            : new Span<TPixel>((TPixel*)_origins[_map.Find(y)] + (nint)y * _rowStride, Width);
    }
}
