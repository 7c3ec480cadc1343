namespace LoadResizeSave.Pixels;

/// <summary>Works on the rows of one raster.</summary>
internal delegate void RowsAction<TPixel>(scoped PixelRows<TPixel> rows)
    where TPixel : unmanaged;
