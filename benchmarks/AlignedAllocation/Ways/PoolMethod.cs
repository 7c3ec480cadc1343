using System;
using System.Buffers;
using Allocator;

namespace AlignedAllocation.Ways;

/// <summary>This library without a word about alignment: arrays up to 1 MiB, blocks of the pool above.</summary>
internal readonly struct PoolMethod : IAllocationMethod<IMemoryOwner<byte>>
{
    private readonly MemoryAllocator _allocator;

    /// <summary>Allocates from <paramref name="allocator"/>.</summary>
    public PoolMethod(MemoryAllocator allocator) => _allocator = allocator;

    /// <inheritdoc/>
    public IMemoryOwner<byte> Allocate(int bytes) => _allocator.Allocate<byte>(bytes);

    /// <inheritdoc/>
    public Span<byte> GetBytes(IMemoryOwner<byte> held, int bytes) => held.Memory.Span;

    /// <inheritdoc/>
    public void Release(IMemoryOwner<byte> held, int bytes) => held.Dispose();
}
