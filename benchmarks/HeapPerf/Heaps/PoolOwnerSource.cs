using Allocator;

namespace HeapPerf.Heaps;

/// <summary>This library's pool, by the owners that it hands out.</summary>
internal readonly struct PoolOwnerSource : IBlockSource<OwnerBlock>
{
    private readonly MemoryAllocator _allocator;

    /// <summary>Takes blocks from <paramref name="allocator"/>.</summary>
    public PoolOwnerSource(MemoryAllocator allocator) => _allocator = allocator;

    /// <inheritdoc/>
    public OwnerBlock Allocate(int sizeInBytes) => new(_allocator.Allocate<byte>(sizeInBytes));

    /// <inheritdoc/>
    public void TouchPages(OwnerBlock block, int sizeInBytes) => Pages.Touch(block.Owner.Memory.Span[..sizeInBytes]);

    /// <inheritdoc/>
    public void Free(OwnerBlock block) => block.Owner.Dispose();
}
