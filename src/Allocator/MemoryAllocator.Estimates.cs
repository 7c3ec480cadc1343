using System;
using System.Threading;
using Allocator.Allocators;

namespace Allocator;

/// <content>What requests take at most.</content>
public abstract partial class MemoryAllocator
{
    /// <summary>
    /// Gives how much of the budget pixel buffers take at most, for <see cref="ReserveAsync(long, CancellationToken)"/>: their
    /// capacity, not their length.
    /// </summary>
    /// <param name="width">The width in pixels, at least 1.</param>
    /// <param name="height">The height in rows, at least 1.</param>
    /// <param name="pixelSizeInBytes">The size of a pixel in bytes, at least 1.</param>
    /// <param name="liveCopies">How many such buffers the job has at once, at least 1.</param>
    /// <param name="rowAlignmentInBytes">The boundary in bytes that each row starts on: a power of two, from 1 to 2 MiB.</param>
    /// <returns>
    /// The bytes, at most <see cref="long.MaxValue"/> / 16: up to sixteen estimates can be added without wrapping, and what is too large
    /// for any machine is never granted.
    /// </returns>
    /// <remarks>
    /// For buffers that are contiguous only where this allocator prefers that. Add up what else lives at the same time: the
    /// thumbnail, say, or a row of another format.
    /// </remarks>
    /// <exception cref="ArgumentOutOfRangeException">
    /// A value is below 1, or <paramref name="rowAlignmentInBytes"/> is no such boundary.
    /// </exception>
    public long EstimatePixelBytes(int width, int height, int pixelSizeInBytes, int liveCopies = 1, int rowAlignmentInBytes = 1)
    {
        if (pixelSizeInBytes < 1)
        {
            Throw.OutOfRange(nameof(pixelSizeInBytes), pixelSizeInBytes, "must be at least 1");
        }

        ThrowIfNotAlignment(rowAlignmentInBytes, nameof(rowAlignmentInBytes));
        AllocationRequest request = DescribePixels(width, height, pixelSizeInBytes, rowAlignmentInBytes);
        return Multiply(GetPipeline().UpperBoundOf(request), liveCopies);
    }

    /// <summary>
    /// Gives how much of the budget plain buffers take at most, for <see cref="ReserveAsync(long, CancellationToken)"/>: their
    /// capacity, not their length.
    /// </summary>
    /// <param name="lengthInBytes">The length of one buffer in bytes.</param>
    /// <param name="liveCopies">How many such buffers the job has at once, at least 1.</param>
    /// <returns>
    /// The bytes, at most <see cref="long.MaxValue"/> / 16: up to sixteen estimates can be added without wrapping, and what is too large
    /// for any machine is never granted.
    /// </returns>
    /// <exception cref="ArgumentOutOfRangeException">
    /// <paramref name="lengthInBytes"/> is negative, or <paramref name="liveCopies"/> is below 1.
    /// </exception>
    public long EstimateBytes(long lengthInBytes, int liveCopies = 1)
    {
        if (lengthInBytes < 0)
        {
            Throw.OutOfRange(nameof(lengthInBytes), lengthInBytes, "must not be negative");
        }

        return Multiply(GetPipeline().UpperBoundOf(AllocationRequest.ForBytes(lengthInBytes, 1, AllocationOptions.None)), liveCopies);
    }

    private static long Multiply(long bytes, int liveCopies)
    {
        if (liveCopies < 1)
        {
            Throw.OutOfRange(nameof(liveCopies), liveCopies, "must be at least 1");
        }

        return Math.Min(AllocationRequest.Multiply(bytes, liveCopies), AllocationRequest.LargestEstimate);
    }
}
