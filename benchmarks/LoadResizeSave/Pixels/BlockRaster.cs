using Allocator;

namespace LoadResizeSave.Pixels;

/// <summary>A raster in a pixel buffer of the library: for PNG in as many blocks as it takes, for JPEG in one run of them.</summary>
internal sealed class BlockRaster<TPixel> : Raster<TPixel>
    where TPixel : unmanaged
{
    private readonly PixelBuffer<TPixel> _buffer;

    public BlockRaster(PixelBuffer<TPixel> buffer)
    {
        _buffer = buffer;
    }

    public override int Width => _buffer.Width;

    public override int Height => _buffer.Height;

    public override void ProcessRows(RowsAction<TPixel> action)
        => _buffer.ProcessPixelRows(static (accessor, action) => action(new PixelRows<TPixel>(accessor)), action);

    public override void ProcessRows<TOther>(Raster<TOther> other, RowsPairAction<TPixel, TOther> action)
        => _buffer.ProcessPixelRows(
            ((BlockRaster<TOther>)other)._buffer,
            (accessor, otherAccessor) => action(new PixelRows<TPixel>(accessor), new PixelRows<TOther>(otherAccessor)));

    public override bool TryProcessPixels(PixelSpanAction<TPixel> action) => _buffer.TryProcessSinglePixelSpan(action);

    public override void Dispose() => _buffer.Dispose();
}
