using System;
using System.Buffers;
using SixLabors.ImageSharp.Memory;
using Pool = Allocator.MemoryAllocator;
using PoolOptions = Allocator.AllocationOptions;

namespace Integrations;

/// <summary>Lets ImageSharp, versions 2 and 3, take its memory from an allocator of this library. The caller disposes that allocator, after the last image.</summary>
public sealed class ImageSharpAllocator : MemoryAllocator
{
    private const int BlockSize = 4 * 1024 * 1024;

    private readonly Pool _pool;
    private readonly int _largestPiece;

    /// <param name="pool">Where the memory comes from.</param>
    /// <param name="largestPieceInBytes">What is told to ImageSharp as the largest contiguous buffer: larger images then come in several. By default a block of the pool; <see cref="int.MaxValue"/> for contiguous images.</param>
    public ImageSharpAllocator(Pool pool, int largestPieceInBytes = BlockSize)
    {
        _pool = pool ?? throw new ArgumentNullException(nameof(pool));
        _largestPiece = largestPieceInBytes;
    }

    public override IMemoryOwner<T> Allocate<T>(int length, AllocationOptions options = AllocationOptions.None) =>
        _pool.Allocate<T>(length, (options & AllocationOptions.Clean) != 0 ? PoolOptions.Clean : PoolOptions.None);

    public override void ReleaseRetainedResources() => _pool.ReleaseRetainedResources();

    protected override int GetBufferCapacityInBytes() => _largestPiece;
}
