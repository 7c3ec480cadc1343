namespace LoadResizeSave.Pixels;

/// <summary>Works on the rows of two rasters at once.</summary>
internal delegate void RowsPairAction<TPixel, TOther>(scoped PixelRows<TPixel> rows, scoped PixelRows<TOther> otherRows)
    where TPixel : unmanaged
    where TOther : unmanaged;
