using System.Diagnostics.CodeAnalysis;
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

    // The first column of a slice. Only rows that are found by origins add it: the address and the array of a slice begin there already.
    private readonly int _left;

    // First: the start of unmanaged memory, if it has one member or members one stride apart; otherwise 0. Array: the buffer, if it is a
    // managed array; otherwise empty.
    internal PixelAccessor(nint first, Span<TPixel> array, scoped in MemberLayout layout, scoped in RowMap map, int rowStride)
    {
        Debug.Assert(first == 0 || array.IsEmpty, "Unmanaged memory is reached by its address, an array by its span.");
        _first = first;
        _array = array;
        _gap = layout.Gap;
        _origins = layout.Origins;
        _map = map;
        _rowStride = rowStride;
    }

    private PixelAccessor(scoped in PixelAccessor<TPixel> whole, Span<TPixel> array, int x)
    {
        _array = array;
        _gap = whole._gap;
        _origins = whole._origins;
        _map = whole._map;
        _rowStride = whole._rowStride;
        _left = whole._left + x;
        _first = whole._first == 0 ? 0 : whole._first + (nint)x * Unsafe.SizeOf<TPixel>();
    }

    /// <summary>Gets the width in pixels: of a slice, its own.</summary>
    public int Width { get; internal init; }

    /// <summary>Gets the number of rows that can be reached: all of the buffer, or those of one band or slice.</summary>
    public int Height { get; internal init; }

    /// <summary>
    /// Gets which row of the buffer is row 0 of this accessor: 0, except in <see cref="PixelBuffer{TPixel}.ProcessPixelRowsInParallel"/>
    /// and in a <see cref="Slice"/>.
    /// </summary>
    public int FirstRow { get; internal init; }

    /// <summary>
    /// Gets the pixels from the beginning of one row to that of the next, if both lie in one block of memory. In a slice it exceeds the
    /// width.
    /// </summary>
    public int RowStride => (int)_rowStride;

    /// <summary>Returns a part of the rows, without a copy: a write to it is a write to the buffer.</summary>
    /// <param name="x">The first column, from 0.</param>
    /// <param name="y">The first row, from 0.</param>
    /// <param name="width">The width in pixels; 0 for rows without any.</param>
    /// <param name="height">The number of rows; 0 for none.</param>
    /// <returns>An accessor that is valid as long as this one. Rows count from 0 in it.</returns>
    /// <exception cref="ArgumentOutOfRangeException">The part is not within the width and height of this accessor.</exception>
    [UnscopedRef]
    public PixelAccessor<TPixel> Slice(int x, int y, int width, int height)
    {
        Throw.IfNotWithin(x, Width, nameof(x));
        Throw.IfNotWithin(y, Height, nameof(y));
        Throw.IfNotWithin(width, Width - x, nameof(width));
        Throw.IfNotWithin(height, Height - y, nameof(height));

        // An accessor without pixels may begin behind the last pixel, so it gets no memory.
        Span<TPixel> array = _array.IsEmpty || width == 0 ? default : _array.Slice(x);
        return new PixelAccessor<TPixel>(this, array, width == 0 ? 0 : x) { Width = width, Height = height, FirstRow = FirstRow + y };
    }

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
            : GetRowSpan(_array, _origins, _map, y, _rowStride, _left, Width);
    }

    // Static, with everything by value: a call on this accessor would keep its fields in memory, and loops would read them for each row.
    [MethodImpl(MethodImplOptions.NoInlining)]
    private static unsafe Span<TPixel> GetRowSpan(
        Span<TPixel> array, nint[]? origins, RowMap map, int y, nint rowStride, int left, int width) =>
        origins is not null ? new Span<TPixel>((TPixel*)origins[map.Find(y)] + y * rowStride + left, width)
        : width == 0 ? default
        : array.Slice(y * (int)rowStride, width);
}

/// <summary>Works on the rows of a pixel buffer. The accessor and its spans are valid until the call returns.</summary>
/// <typeparam name="TPixel">The pixel type.</typeparam>
/// <param name="accessor">The rows.</param>
public delegate void PixelRowsAction<TPixel>(scoped PixelAccessor<TPixel> accessor)
    where TPixel : unmanaged;

/// <summary>As <see cref="PixelRowsAction{TPixel}"/>, with a state that the caller passed, which saves a closure.</summary>
public delegate void PixelRowsAction<TPixel, TState>(scoped PixelAccessor<TPixel> accessor, TState state)
    where TPixel : unmanaged;

/// <summary>Works on the rows of two pixel buffers at once. The accessors are those of the first and of the second.</summary>
public delegate void PixelRowsPairAction<TPixel, TOther>(scoped PixelAccessor<TPixel> accessor, scoped PixelAccessor<TOther> other)
    where TPixel : unmanaged
    where TOther : unmanaged;

/// <summary>Works on the rows of three pixel buffers at once. The accessors are in the order of the buffers.</summary>
public delegate void PixelRowsTripleAction<TPixel, TSecond, TThird>(
    scoped PixelAccessor<TPixel> accessor, scoped PixelAccessor<TSecond> second, scoped PixelAccessor<TThird> third)
    where TPixel : unmanaged
    where TSecond : unmanaged
    where TThird : unmanaged;

/// <summary>Works on all pixels of a buffer, row after row, as one span, which is valid until the call returns.</summary>
public delegate void PixelSpanAction<TPixel>(scoped Span<TPixel> pixels)
    where TPixel : unmanaged;
