namespace Decisions.BlockSizes;

/// <summary>The pixels of one image.</summary>
/// <param name="RowBytes">One row, in bytes.</param>
/// <param name="Height">The number of rows.</param>
internal readonly record struct ImageSize(int RowBytes, int Height)
{
    /// <summary>Gets all pixels, in bytes.</summary>
    public long Bytes => (long)RowBytes * Height;
}
