using System;
using System.Buffers;
using Allocator;
using SixLabors.ImageSharp.Memory;
using AllocationOptions = SixLabors.ImageSharp.Memory.AllocationOptions;
using MemoryAllocator = SixLabors.ImageSharp.Memory.MemoryAllocator;
using Pool = Allocator.MemoryAllocator;
using PoolOptions = Allocator.AllocationOptions;

namespace Integrations;

/// <summary>
/// Lets ImageSharp, versions 2 and 3, take its memory from an allocator of this library. The caller disposes that allocator, after the
/// last image.
/// </summary>
/// <remarks>
/// Thread-safe, like the allocator below it. Where that one refuses, ImageSharp sees its own <see
/// cref="InvalidMemoryOperationException"/>, as from its own allocator; <see cref="FindRefusal"/> returns the cause.
/// </remarks>
public sealed class ImageSharpAllocator : MemoryAllocator
{
    private const int BlockSize = 4 * 1024 * 1024;

    // Four floats, which resizing and most effects use for a pixel. A row of a JPEG's coefficients takes as much: 128 bytes for 8 pixels.
    private const int LargestPixelSize = 16;

    private const string RefusalKey = "Allocator.Refusal";

    private readonly Pool _pool;
    private readonly int _largestPiece;

    /// <summary>Makes an allocator over <paramref name="pool"/>.</summary>
    /// <param name="pool">Where the memory comes from: an allocator, or the reservation of one image.</param>
    /// <param name="largestPieceInBytes">
    /// What ImageSharp is told to be the largest contiguous buffer. Larger images come in several, each of whole rows, so no row may be
    /// longer: see <see cref="PieceFor"/>. By default 4 MiB, a block of the pool;
    /// <see cref="int.MaxValue"/> for contiguous images.
    /// </param>
    public ImageSharpAllocator(Pool pool, int largestPieceInBytes = BlockSize)
    {
        _pool = pool ?? throw new ArgumentNullException(nameof(pool));
        _largestPiece = largestPieceInBytes > 0
            ? largestPieceInBytes
            : throw new ArgumentOutOfRangeException(nameof(largestPieceInBytes), largestPieceInBytes, "must be positive");
    }

    /// <summary>
    /// Returns the smallest number of whole blocks, in bytes, that holds each row that ImageSharp needs for images of <paramref
    /// name="width"/> pixels: 4 MiB up to 262,144 pixels.
    /// </summary>
    public static int PieceFor(int width)
    {
        long row = (long)LargestPixelSize * Math.Max(1, width);
        long blocks = (row + BlockSize - 1) / BlockSize * BlockSize;
        return (int)Math.Min(blocks, int.MaxValue);
    }

    /// <summary>
    /// Returns the <see cref="MemoryLimitExceededException"/> or <see cref="OutOfMemoryException"/> behind what ImageSharp threw, at any
    /// depth; null where memory is not the cause.
    /// </summary>
    public static Exception? FindRefusal(Exception? exception)
    {
        for (Exception? e = exception; e is not null; e = e.InnerException)
        {
            if (e is MemoryLimitExceededException or OutOfMemoryException)
            {
                return e;
            }

            if (e.Data[RefusalKey] is Exception refusal)
            {
                return refusal;
            }
        }

        return null;
    }

    /// <inheritdoc/>
    public override IMemoryOwner<T> Allocate<T>(int length, AllocationOptions options = AllocationOptions.None)
    {
        // A damaged header can make one. ImageSharp's callers expect what its own allocator throws.
        if (length < 0)
        {
            throw new InvalidMemoryOperationException($"A buffer of {length} elements was requested; lengths are not negative.");
        }

        try
        {
            return _pool.Allocate<T>(length, (options & AllocationOptions.Clean) != 0 ? PoolOptions.Clean : PoolOptions.None);
        }
        catch (Exception e) when (e is MemoryLimitExceededException or OutOfMemoryException)
        {
            throw NewRefusal(e);
        }
    }

    /// <inheritdoc/>
    public override void ReleaseRetainedResources() => _pool.ReleaseRetainedResources();

    /// <inheritdoc/>
    protected override int GetBufferCapacityInBytes() => _largestPiece;

    // ImageSharp's exception takes a message only, so the cause goes with its data.
    private static InvalidMemoryOperationException NewRefusal(Exception cause)
    {
        InvalidMemoryOperationException refusal = new(cause.Message);
        refusal.Data[RefusalKey] = cause;
        return refusal;
    }
}
