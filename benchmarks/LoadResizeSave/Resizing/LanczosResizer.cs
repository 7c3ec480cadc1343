using System;
using System.Buffers;
using LoadResizeSave.Pixels;

namespace LoadResizeSave.Resizing;

/// <summary>
/// Makes a picture smaller, first along its rows and then along its columns. Between the two passes only as many rows are kept
/// as one output row needs, in a ring, so that the work stays in the cache and a picture's memory is that of its pixels.
/// </summary>
internal static class LanczosResizer
{
    /// <summary>Fills <paramref name="target"/> with <paramref name="source"/> made smaller, or copied where the sizes are equal.</summary>
    public static void Resize(Raster<Rgb24> source, Raster<Rgb24> target, PixelStore store)
    {
        using ResamplingWeights horizontal = new(source.Width, target.Width, store);
        using ResamplingWeights vertical = new(source.Height, target.Height, store);
        using IMemoryOwner<float> sourceRow = store.Allocate<float>(SampleCount(source.Width, 1));
        using IMemoryOwner<float> ring = store.Allocate<float>(SampleCount(target.Width, vertical.MaximumCount));
        using IMemoryOwner<float> sum = store.Allocate<float>(SampleCount(target.Width, 1));
        source.ProcessRows(
            target,
            (sourceRows, targetRows) => Resize(
                sourceRows, targetRows, horizontal, vertical, sourceRow.Memory.Span, ring.Memory.Span, sum.Memory.Span));
    }

    private static int SampleCount(int width, int rows)
    {
        long count = (long)width * PixelArithmetic.Channels * rows;
        return count <= Array.MaxLength / sizeof(float)
            ? (int)count
            : throw new OutOfMemoryException($"{rows} rows of {width:N0} pixels are too long to be resized.");
    }

    private static void Resize(
        scoped PixelRows<Rgb24> source,
        scoped PixelRows<Rgb24> target,
        ResamplingWeights horizontal,
        ResamplingWeights vertical,
        Span<float> sourceRow,
        Span<float> ring,
        Span<float> sum)
    {
        int capacity = vertical.MaximumCount;
        int stride = sum.Length;
        int filled = 0;
        for (int y = 0; y < target.Height; y++)
        {
            (int start, int count) = vertical.Ranges[y];
            ReadOnlySpan<float> weights = vertical.Weights.Slice(y * capacity, count);
            for (; filled < start + weights.Length; filled++)
            {
                PixelArithmetic.Widen(source[filled], sourceRow);
                Shrink(sourceRow, ring.Slice(filled % capacity * stride, stride), horizontal);
            }

            sum.Clear();
            for (int i = 0; i < weights.Length; i++)
            {
                PixelArithmetic.AddScaled(ring.Slice((start + i) % capacity * stride, stride), weights[i], sum);
            }

            PixelArithmetic.Narrow(sum, target[y]);
        }
    }

    private static void Shrink(ReadOnlySpan<float> source, Span<float> target, ResamplingWeights weights)
    {
        ReadOnlySpan<ResamplingRange> ranges = weights.Ranges;
        ReadOnlySpan<float> all = weights.Weights;
        for (int x = 0; x < ranges.Length; x++)
        {
            (int start, int count) = ranges[x];
            PixelArithmetic.WeightedSum(
                source.Slice(start * PixelArithmetic.Channels, count * PixelArithmetic.Channels),
                all.Slice(x * weights.MaximumCount, count),
                target.Slice(x * PixelArithmetic.Channels, PixelArithmetic.Channels));
        }
    }
}
