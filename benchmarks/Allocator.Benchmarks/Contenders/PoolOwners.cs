using System.Buffers;

namespace Allocator.Benchmarks.Contenders;

/// <summary>The pool of this library, by <c>Allocate</c> and <c>Dispose</c>.</summary>
internal sealed class PoolOwners : Contender
{
    private readonly MemoryAllocator _allocator = MeasuredPool.Create();

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
    public override void Dispose() => _allocator.Dispose();
}
