using System.Buffers;
using Allocator;

namespace LoadResizeSave.Pixels;

/// <summary>Lends memory of the library: the pool, or with a pool size of zero the same code without pooling.</summary>
internal sealed class BlockStore : PixelStore
{
    private readonly MemoryAllocator _allocator;

    /// <summary>Makes an allocator with <paramref name="options"/>.</summary>
    public BlockStore(MemoryAllocatorOptions options)
    {
        _allocator = MemoryAllocator.Create(options);
    }

    /// <inheritdoc/>
    public override long CommittedBytes => _allocator.GetStatistics().CommittedBytes;

    /// <inheritdoc/>
    public override MemoryAllocatorStatistics? Statistics => _allocator.GetStatistics();

    /// <inheritdoc/>
    public override Raster<TPixel> AllocatePixels<TPixel>(int width, int height, bool contiguous)
        => new BlockRaster<TPixel>(
            _allocator.AllocatePixels<TPixel>(width, height, contiguous ? AllocationOptions.Contiguous : AllocationOptions.None));

    /// <inheritdoc/>
    public override IMemoryOwner<T> Allocate<T>(int length) => _allocator.Allocate<T>(length);

    /// <inheritdoc/>
    public override void Release() => _allocator.ReleaseRetainedResources();

    /// <inheritdoc/>
    public override void Dispose() => _allocator.Dispose();
}
