using System;
using System.Buffers;
using Allocator;

namespace AlignedAllocation.Ways;

/// <summary>This library, asked for an alignment: memory of the system up to 1 MiB, blocks of the pool above.</summary>
internal readonly struct AlignedPoolMethod : IAllocationMethod<IMemoryOwner<byte>>
{
    private readonly MemoryAllocator _allocator;
    private readonly int _alignment;

    /// <summary>Allocates from <paramref name="allocator"/>, on multiples of <paramref name="alignment"/> bytes.</summary>
    public AlignedPoolMethod(MemoryAllocator allocator, int alignment)
    {
        _allocator = allocator;
        _alignment = alignment;
    }

    /// <inheritdoc/>
    public IMemoryOwner<byte> Allocate(int bytes) => _allocator.AllocateAligned<byte>(bytes, _alignment);

    /// <inheritdoc/>
    public Span<byte> GetBytes(IMemoryOwner<byte> held, int bytes) => held.Memory.Span;

    /// <inheritdoc/>
    public void Release(IMemoryOwner<byte> held, int bytes) => held.Dispose();
}
