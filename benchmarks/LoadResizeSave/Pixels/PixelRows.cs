using Allocator;

namespace LoadResizeSave.Pixels;

/// <summary>Gives the rows of a <see cref="Raster{TPixel}"/> for as long as its delegate runs, whether they lie in the blocks of an allocator or in one array.</summary>
internal readonly ref struct PixelRows<TPixel>
    where TPixel : unmanaged
{
    private readonly PixelAccessor<TPixel> _accessor;
    private readonly Span<TPixel> _pixels;

    public PixelRows(PixelAccessor<TPixel> accessor)
    {
        _accessor = accessor;
        Width = accessor.Width;
        Height = accessor.Height;
    }

    public PixelRows(Span<TPixel> pixels, int width, int height)
    {
        _pixels = pixels;
        Width = width;
        Height = height;
    }

    public int Width { get; }

    public int Height { get; }

    public Span<TPixel> this[int y] => _pixels.IsEmpty ? _accessor.GetRowSpan(y) : _pixels.Slice(checked(y * Width), Width);
}
