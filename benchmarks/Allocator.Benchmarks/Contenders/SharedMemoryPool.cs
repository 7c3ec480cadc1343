using System.Buffers;

namespace Allocator.Benchmarks.Contenders;

/// <summary><c>MemoryPool&lt;byte&gt;.Shared</c>: an owner around an array of the shared array pool.</summary>
internal sealed class SharedMemoryPool : Contender
{
    /// <inheritdoc/>
    public override void HoldOne(int count)
    {
        for (int i = 0; i < count; i++)
        {
            using IMemoryOwner<byte> owner = MemoryPool<byte>.Shared.Rent(BlockSizeInBytes);
            Work.On(owner);
        }
    }

    /// <inheritdoc/>
    public override void HoldFour(int count)
    {
        for (int i = 0; i < count; i += Four)
        {
            using IMemoryOwner<byte> first = MemoryPool<byte>.Shared.Rent(BlockSizeInBytes);
            Work.On(first);
            using IMemoryOwner<byte> second = MemoryPool<byte>.Shared.Rent(BlockSizeInBytes);
            Work.On(second);
            using IMemoryOwner<byte> third = MemoryPool<byte>.Shared.Rent(BlockSizeInBytes);
            Work.On(third);
            using IMemoryOwner<byte> fourth = MemoryPool<byte>.Shared.Rent(BlockSizeInBytes);
            Work.On(fourth);
        }
    }
}
