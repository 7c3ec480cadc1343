namespace LoadResizeSave.Resizing;

/// <summary>
/// Makes a picture smaller: for each row of the result first along the columns, where whole rows are added as they lie in memory, then
/// along the row. So one row of sums is all that lies between the two pictures.
/// </summary>
internal static class LanczosResizer
{
    // Sums of this many bytes of a row stay in the first-level cache while the rows are added to them.
    private const int TileLength = 4096;

    /// <summary>
    /// Fills <paramref name="target"/> with <paramref name="source"/> made smaller, or copied where the sizes are equal.
    /// </summary>
    public static void Resize(Raster<Rgb24> source, Raster<Rgb24> target, PixelStore store)
    {
        using ResamplingWeights horizontal = new(source.Width, target.Width, store);
        using ResamplingWeights vertical = new(source.Height, target.Height, store);
        using IMemoryOwner<float> sums = store.Allocate<float>(CountSums(source.Width));
        source.ProcessRows(target, (sourceRows, targetRows) =>
        {
            Span<float> row = sums.Memory.Span;
            for (int y = 0; y < targetRows.Height; y++)
            {
                AddRows(sourceRows, vertical, y, row);
                ShrinkRow(row, horizontal, targetRows[y]);
            }
        });
    }

    /// <summary>Returns how much memory that takes of the store at most, beside the pictures.</summary>
    public static long Estimate(PictureSize source, PictureSize target, PixelStore store)
        => store.Estimate<byte>(ResamplingWeights.LengthInBytes(source.Width, target.Width))
            + store.Estimate<byte>(ResamplingWeights.LengthInBytes(source.Height, target.Height))
            + store.Estimate<float>(CountSums(source.Width));

    private static int CountSums(int width)
    {
        long count = ((long)width * PixelArithmetic.Channels) + PixelArithmetic.Padding;
        return count <= Array.MaxLength / sizeof(float)
            ? (int)count
            : throw new OutOfMemoryException($"Rows of {width:N0} pixels are too long to be resized.");
    }

    private static void AddRows(scoped PixelRows<Rgb24> source, ResamplingWeights weights, int y, Span<float> sums)
    {
        (int first, int count) = weights.Ranges[y];
        ReadOnlySpan<float> rowWeights = weights.Weights.Slice(y * weights.MaximumCount, count);

        // The padding is read into a channel that is thrown away: any number will do, but not what lay there before.
        sums.Clear();
        int length = source.Width * PixelArithmetic.Channels;
        for (int start = 0; start < length; start += TileLength)
        {
            Span<float> tile = sums.Slice(start, Math.Min(TileLength, length - start));
            int i = 0;
            for (; i + 1 < count; i += 2)
            {
                ReadOnlySpan<byte> row = MemoryMarshal.AsBytes(source[first + i]).Slice(start, tile.Length);
                ReadOnlySpan<byte> next = MemoryMarshal.AsBytes(source[first + i + 1]).Slice(start, tile.Length);
                PixelArithmetic.AddScaled(row, rowWeights[i], next, rowWeights[i + 1], tile);
            }

            if (i < count)
            {
                ReadOnlySpan<byte> row = MemoryMarshal.AsBytes(source[first + i]).Slice(start, tile.Length);
                PixelArithmetic.AddScaled(row, rowWeights[i], row, 0, tile);
            }
        }
    }

    private static void ShrinkRow(ReadOnlySpan<float> sums, ResamplingWeights weights, Span<Rgb24> target)
    {
        ReadOnlySpan<ResamplingRange> ranges = weights.Ranges[..target.Length];
        ReadOnlySpan<float> all = weights.Weights;
        for (int x = 0; x < target.Length; x++)
        {
            (int start, int count) = ranges[x];
            ReadOnlySpan<float> samples = sums.Slice(
                start * PixelArithmetic.Channels, (count * PixelArithmetic.Channels) + PixelArithmetic.Padding);
            target[x] = PixelArithmetic.WeightedSum(samples, all.Slice(x * weights.MaximumCount, count));
        }
    }
}
