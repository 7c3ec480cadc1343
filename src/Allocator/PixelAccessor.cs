using System.Diagnostics.CodeAnalysis;
using Allocator.Lifetime;

namespace Allocator;

/// <summary>Reaches the rows of a pixel buffer, or of a band of it, while a delegate runs.</summary>
/// <typeparam name="TPixel">The pixel type.</typeparam>
public readonly ref struct PixelAccessor<TPixel>
    where TPixel : unmanaged
{
    // Separate fields instead of a PixelRows, so that loops over rows keep what they need in registers.
    private readonly nint _run; // The address of row 0 if all rows lie in one run of unmanaged memory; otherwise 0.
    private readonly nint _first;
    private readonly Span<byte> _array;
    private readonly nint _gap;
    private readonly nint[]? _origins;
    private readonly RowMap _map;
    private readonly nint _stride;
    private readonly nint _offset;
    private readonly int _top;
    private readonly int _topOfBuffer;

    /// <param name="first">The origin of unmanaged memory with one member, or members one stride apart; otherwise 0.</param>
    /// <param name="array">The memory, if it is managed; otherwise empty.</param>
    /// <param name="gap">The bytes between two members.</param>
    /// <param name="origins">The origins of the members, if the gaps differ.</param>
    /// <param name="rows">Where the rows lie.</param>
    /// <param name="topOfBuffer">The memory row that is the first of the buffer.</param>
    internal PixelAccessor(nint first, Span<byte> array, nint gap, nint[]? origins, scoped in PixelRows rows, int topOfBuffer)
    {
        Debug.Assert(first == 0 || array.IsEmpty, "Unmanaged memory is reached by its address, managed memory by its span.");
        _first = first == 0 ? 0 : first + rows.Offset;
        _run = first == 0 || gap != 0 ? 0 : _first + rows.Top * rows.Stride;
        _array = array;
        _gap = gap;
        _origins = origins;
        _map = rows.Map;
        _stride = rows.Stride;
        _offset = rows.Offset;
        _top = rows.Top;
        _topOfBuffer = topOfBuffer;
        Width = rows.Width;
        Height = rows.Height;
    }

    /// <summary>Gets the width in pixels; for a slice, that of the slice.</summary>
    public int Width { get; }

    /// <summary>Gets the number of rows that can be reached: all of the buffer, or those of one band or slice.</summary>
    public int Height { get; }

    /// <summary>
    /// Gets which row of the buffer is row 0 of this accessor: 0, except in <c>ProcessPixelRowsInParallel</c>
    /// and in a <see cref="Slice"/>.
    /// </summary>
    public int FirstRow => _top - _topOfBuffer;

    /// <inheritdoc cref="PixelBuffer{TPixel}.RowStride"/>
    public int RowStride => Rows.StrideInPixels(Unsafe.SizeOf<TPixel>());

    /// <inheritdoc cref="PixelBuffer{TPixel}.RowStrideInBytes"/>
    public int RowStrideInBytes => (int)_stride;

    private nint Origin => _first == 0 ? 0 : _first - _offset;

    private PixelRows Rows =>
        new() { Map = _map, Offset = _offset, Stride = _stride, Top = _top, Width = Width, Height = Height };

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
        return new PixelAccessor<TPixel>(
            Origin, _array, _gap, _origins, Rows.Slice(x, y, width, height, Unsafe.SizeOf<TPixel>()), _topOfBuffer);
    }

    /// <summary>Returns the same rows as bytes: as wide as the bytes of a row of pixels.</summary>
    /// <returns>An accessor that is valid as long as this one.</returns>
    [UnscopedRef]
    public PixelAccessor<byte> AsBytes() => View<byte>(Width * Unsafe.SizeOf<TPixel>());

    /// <summary>Returns the same rows as pixels of another type of the same size.</summary>
    /// <typeparam name="TTo">That type: <see cref="uint"/> for pixels of four bytes, for instance.</typeparam>
    /// <returns>An accessor that is valid as long as this one.</returns>
    /// <exception cref="ArgumentException"><typeparamref name="TTo"/> has another size.</exception>
    [UnscopedRef]
    public PixelAccessor<TTo> Cast<TTo>()
        where TTo : unmanaged
    {
        Throw.IfOtherSize<TTo>(Unsafe.SizeOf<TPixel>());
        return View<TTo>(Width);
    }

    /// <summary>Returns the pixels of one row. Costs a few instructions, the same for one block of memory and for many.</summary>
    /// <param name="y">From 0 to <see cref="Height"/> - 1.</param>
    /// <exception cref="ArgumentOutOfRangeException"><paramref name="y"/> is not in that range.</exception>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public Span<TPixel> GetRowSpan(int y)
    {
        if ((uint)y >= (uint)Height)
        {
            Throw.RowOutOfRange(y, Height);
        }

        return GetSpan(y, Width);
    }

    /// <summary>Returns pixels from the beginning of a row on. The caller has checked that they exist and are adjacent.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    internal unsafe Span<TPixel> GetSpan(int y, int length)
    {
        // The usual case: one multiplication, where images of several blocks take three.
        if (_run != 0)
        {
            return MemoryMarshal.CreateSpan(ref *(TPixel*)(_run + y * _stride), length);
        }

        y += _top;
        return _first != 0
            ? MemoryMarshal.CreateSpan(ref *(TPixel*)(_first + _map.Find(y) * _gap + y * _stride), length)
            : _origins is null ? GetArraySpan(_array, y * _stride + _offset, length)
            : GetScatteredSpan(_origins, _map.Find(y), y * _stride + _offset, length);
    }

    /// <summary>Returns the pixels from the beginning of a row on that lie without a gap, and how many rows they are.</summary>
    internal Span<TPixel> GetRun(int y, out int rows)
    {
        rows = Rows.RunFrom(y, Unsafe.SizeOf<TPixel>());
        return GetSpan(y, rows * Width);
    }

    /// <summary>Copies all rows to others of the same size. False if they overlap in a way for which no order of rows is right.</summary>
    internal bool TryCopyTo(scoped PixelAccessor<TPixel> destination)
    {
        nint distance = 0;
        if (Overlaps(destination) && !IsInLineWith(destination, out distance))
        {
            return false;
        }

        if (distance != 0 && distance > 0 == _stride > 0)
        {
            for (int y = Height - 1; y >= 0; y--)
            {
                GetRowSpan(y).CopyTo(destination.GetRowSpan(y));
            }

            return true;
        }

        for (int y = 0, rows; y < Height; y += rows)
        {
            Span<TPixel> run = GetRun(y, out rows);
            Span<TPixel> to = destination.GetRun(y, out int toRows);
            rows = Math.Min(rows, toRows);
            run.Slice(0, rows * Width).CopyTo(to);
        }

        return true;
    }

    [UnscopedRef]
    private PixelAccessor<TTo> View<TTo>(int width)
        where TTo : unmanaged => new(Origin, _array, _gap, _origins, Rows with { Width = width }, _topOfBuffer);

    private bool Overlaps(scoped PixelAccessor<TPixel> other)
    {
        for (int y = 0; y < Height; y += Rows.RowsFrom(y))
        {
            for (int z = 0; z < other.Height; z += other.Rows.RowsFrom(z))
            {
                ref TPixel here = ref LowestOf(y, out nint length);
                ref TPixel there = ref other.LowestOf(z, out nint otherLength);
                nint distance = Unsafe.ByteOffset(ref here, ref there);
                if (distance < length && distance > -otherLength)
                {
                    return true;
                }
            }
        }

        return false;
    }

    // For the rows from y on that lie in the same member: the lowest pixel, and the bytes from there to the end of the highest.
    private ref TPixel LowestOf(int y, out nint length)
    {
        int rows = Rows.RowsFrom(y);
        length = (nint)PixelRows.LengthInBytes(Width, rows, _stride, Unsafe.SizeOf<TPixel>());
        return ref MemoryMarshal.GetReference(GetRowSpan(_stride < 0 ? y + rows - 1 : y));
    }

    // Whether all rows are equally far from the same rows of the other: then they can be copied from the far end on.
    private bool IsInLineWith(scoped PixelAccessor<TPixel> other, out nint distance)
    {
        distance = 0;
        if (Height == 1)
        {
            return true;
        }

        if (_map.IsEmpty && other._map.IsEmpty)
        {
            distance = Unsafe.ByteOffset(
                ref MemoryMarshal.GetReference(GetRowSpan(0)), ref MemoryMarshal.GetReference(other.GetRowSpan(0)));
        }
        else if ((Origin, _gap, _origins) == (other.Origin, other._gap, other._origins))
        {
            distance = (other._top - _top) * _stride + other._offset - _offset;
        }
        else
        {
            return false;
        }

        return _stride == other._stride;
    }

    // Static, with everything by value: a call on this accessor would keep its fields in memory, and loops would read them for each row.
    [MethodImpl(MethodImplOptions.NoInlining)]
    private static unsafe Span<TPixel> GetScatteredSpan(nint[] origins, nint member, nint offset, int length) =>
        new((byte*)origins[member] + offset, length);

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static Span<TPixel> GetArraySpan(Span<byte> array, nint offset, int length) =>
        MemoryMarshal.Cast<byte, TPixel>(array.Slice((int)offset, length * Unsafe.SizeOf<TPixel>()));
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

/// <summary>As <see cref="PixelRowsPairAction{TPixel, TOther}"/>, with a state that the caller passed, which saves a closure.</summary>
public delegate void PixelRowsPairAction<TPixel, TOther, TState>(
    scoped PixelAccessor<TPixel> accessor, scoped PixelAccessor<TOther> other, TState state)
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
