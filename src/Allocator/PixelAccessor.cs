using System;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using Allocator.Lifetime;

namespace Allocator;

/// <summary>Reaches the rows of a pixel buffer, or of a band of it, while a delegate runs.</summary>
/// <typeparam name="TPixel">The pixel type.</typeparam>
public readonly ref struct PixelAccessor<TPixel>
    where TPixel : unmanaged
{
    private readonly nint _first;
    private readonly Span<TPixel> _array;
    private readonly nint _gap;
    private readonly nint[]? _origins;
    private readonly RowMap _map;
    private readonly nint _rowStride;

    // First is where the buffer begins, where it is unmanaged and has one member or members one stride apart, and otherwise 0; the array
    // is the buffer where that is one, and otherwise empty.
    internal PixelAccessor(nint first, Span<TPixel> array, scoped in MemberLayout layout, scoped in RowMap map, int rowStride)
    {
        _first = first;
        _array = array;
        _gap = layout.Gap;
        _origins = layout.Origins;
        _map = map;
        _rowStride = rowStride;
    }

    /// <summary>Gets the width in pixels.</summary>
    public int Width { get; internal init; }

    /// <summary>Gets the number of rows that can be reached: all of the buffer, or those of one band.</summary>
    public int Height { get; internal init; }

    /// <summary>
    /// Gets the buffer's row that row 0 of this accessor is: 0, except in <see cref="PixelBuffer{TPixel}.ProcessPixelRowsInParallel"/>.
    /// </summary>
    public int FirstRow { get; internal init; }

    /// <summary>Returns the pixels of one row. Costs a few instructions, the same for one block of memory and for many.</summary>
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

        // One formula for one block and for many: with one, the map finds member 0 and the gap is 0.
        return _first != 0
            ? MemoryMarshal.CreateSpan(ref *((TPixel*)(_first + _map.Find(y) * _gap) + y * _rowStride), Width)
            : GetRowSpan(_array, _origins, _map, y, _rowStride, Width);
    }

    // Static, and everything by value: a call on this accessor would keep its fields in memory, where loops over rows would read them
    // again for each row.
    [MethodImpl(MethodImplOptions.NoInlining)]
    private static unsafe Span<TPixel> GetRowSpan(Span<TPixel> array, nint[]? origins, RowMap map, int y, nint rowStride, int width) =>
        origins is null
            ? array.Slice(y * (int)rowStride, width)
            : new Span<TPixel>((TPixel*)origins[map.Find(y)] + y * rowStride, width);
}
