using System.Diagnostics.CodeAnalysis;

namespace Allocator;

/// <summary>As <see cref="PixelAccessor{TPixel}"/>, without writing.</summary>
/// <typeparam name="TPixel">The pixel type.</typeparam>
public readonly ref struct ReadOnlyPixelAccessor<TPixel>
    where TPixel : unmanaged
{
    private readonly PixelAccessor<TPixel> _rows;

    private ReadOnlyPixelAccessor(PixelAccessor<TPixel> rows) => _rows = rows;

    /// <inheritdoc cref="PixelAccessor{TPixel}.Width"/>
    public int Width => _rows.Width;

    /// <inheritdoc cref="PixelAccessor{TPixel}.Height"/>
    public int Height => _rows.Height;

    /// <inheritdoc cref="PixelAccessor{TPixel}.FirstRow"/>
    public int FirstRow => _rows.FirstRow;

    /// <inheritdoc cref="PixelAccessor{TPixel}.RowStride"/>
    public int RowStride => _rows.RowStride;

    /// <inheritdoc cref="PixelAccessor{TPixel}.RowStrideInBytes"/>
    public int RowStrideInBytes => _rows.RowStrideInBytes;

    /// <summary>Makes an accessor that only reads.</summary>
    /// <param name="rows">The rows, which others may write meanwhile.</param>
    public static implicit operator ReadOnlyPixelAccessor<TPixel>(PixelAccessor<TPixel> rows) => new(rows);

    /// <summary>Returns a part of the rows, without a copy.</summary>
    /// <inheritdoc cref="PixelAccessor{TPixel}.Slice" path="/param | /returns | /exception"/>
    [UnscopedRef]
    public ReadOnlyPixelAccessor<TPixel> Slice(int x, int y, int width, int height) => new(_rows.Slice(x, y, width, height));

    /// <inheritdoc cref="PixelAccessor{TPixel}.AsBytes"/>
    [UnscopedRef]
    public ReadOnlyPixelAccessor<byte> AsBytes() => _rows.AsBytes();

    /// <inheritdoc cref="PixelAccessor{TPixel}.Cast"/>
    [UnscopedRef]
    public ReadOnlyPixelAccessor<TTo> Cast<TTo>()
        where TTo : unmanaged => _rows.Cast<TTo>();

    /// <inheritdoc cref="PixelAccessor{TPixel}.GetRowSpan"/>
    public ReadOnlySpan<TPixel> GetRowSpan(int y) => _rows.GetRowSpan(y);
}

/// <summary>Reads the rows of a pixel buffer. The accessor and its spans are valid until the call returns.</summary>
/// <typeparam name="TPixel">The pixel type.</typeparam>
/// <typeparam name="TState">The type of the state.</typeparam>
/// <param name="accessor">The rows.</param>
/// <param name="state">What the caller passed, which saves a closure.</param>
public delegate void ReadOnlyPixelRowsAction<TPixel, TState>(scoped ReadOnlyPixelAccessor<TPixel> accessor, TState state)
    where TPixel : unmanaged;

/// <summary>As <see cref="ReadOnlyPixelRowsAction{TPixel, TState}"/>, without a state.</summary>
public delegate void ReadOnlyPixelRowsAction<TPixel>(scoped ReadOnlyPixelAccessor<TPixel> accessor)
    where TPixel : unmanaged;
