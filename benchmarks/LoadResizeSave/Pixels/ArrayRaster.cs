using System.Buffers;
using System.Runtime.InteropServices;
using Allocator;

namespace LoadResizeSave.Pixels;

/// <summary>A raster in one managed array of bytes.</summary>
internal sealed class ArrayRaster<TPixel> : Raster<TPixel>
    where TPixel : unmanaged
{
    private readonly IMemoryOwner<byte> _owner;

    public ArrayRaster(IMemoryOwner<byte> owner, int width, int height)
    {
        _owner = owner;
        Width = width;
        Height = height;
    }

    public override int Width { get; }

    public override int Height { get; }

    private Span<TPixel> Pixels => MemoryMarshal.Cast<byte, TPixel>(_owner.Memory.Span);

    public override void ProcessRows(RowsAction<TPixel> action) => action(new PixelRows<TPixel>(Pixels, Width, Height));

    public override void ProcessRows<TOther>(Raster<TOther> other, RowsPairAction<TPixel, TOther> action)
        => action(
            new PixelRows<TPixel>(Pixels, Width, Height),
            new PixelRows<TOther>(((ArrayRaster<TOther>)other).Pixels, other.Width, other.Height));

    public override bool TryProcessPixels(PixelSpanAction<TPixel> action)
    {
        action(Pixels);
        return true;
    }

    public override void Dispose() => _owner.Dispose();
}
