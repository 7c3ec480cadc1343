using System.Buffers;
using Measuring.Classic;

namespace Allocator.Benchmarks.Contenders;

/// <summary>The model of the classic design: one lock, and a finalizable guard a rent.</summary>
internal sealed class ClassicOwners : Contender
{
    // As many blocks as the pool of MeasuredPool has at most.
    private readonly ClassicAllocator _allocator = new(capacity: 256);

    /// <inheritdoc/>
    public override void HoldOne(int count)
    {
        for (int i = 0; i < count; i++)
        {
            using IMemoryOwner<byte> owner = _allocator.Allocate<byte>(BlockSizeInBytes);
            Work.On(owner);
        }
    }

    /// <inheritdoc/>
    public override void HoldFour(int count)
    {
        for (int i = 0; i < count; i += Four)
        {
            using IMemoryOwner<byte> first = _allocator.Allocate<byte>(BlockSizeInBytes);
            Work.On(first);
            using IMemoryOwner<byte> second = _allocator.Allocate<byte>(BlockSizeInBytes);
            Work.On(second);
            using IMemoryOwner<byte> third = _allocator.Allocate<byte>(BlockSizeInBytes);
            Work.On(third);
            using IMemoryOwner<byte> fourth = _allocator.Allocate<byte>(BlockSizeInBytes);
            Work.On(fourth);
        }
    }

    /// <inheritdoc/>
    public override void Dispose() => _allocator.Release();
}
