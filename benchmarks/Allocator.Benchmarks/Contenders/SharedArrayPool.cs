using System.Buffers;

namespace Allocator.Benchmarks.Contenders;

/// <summary><c>ArrayPool&lt;byte&gt;.Shared</c>: bare arrays, without any guard.</summary>
internal sealed class SharedArrayPool : Contender
{
    /// <inheritdoc/>
    public override void HoldOne(int count)
    {
        for (int i = 0; i < count; i++)
        {
            byte[] array = ArrayPool<byte>.Shared.Rent(BlockSizeInBytes);
            Work.On(array);
            ArrayPool<byte>.Shared.Return(array);
        }
    }

    /// <inheritdoc/>
    public override void HoldFour(int count)
    {
        ArrayPool<byte> pool = ArrayPool<byte>.Shared;
        for (int i = 0; i < count; i += Four)
        {
            byte[] first = pool.Rent(BlockSizeInBytes);
            Work.On(first);
            byte[] second = pool.Rent(BlockSizeInBytes);
            Work.On(second);
            byte[] third = pool.Rent(BlockSizeInBytes);
            Work.On(third);
            byte[] fourth = pool.Rent(BlockSizeInBytes);
            Work.On(fourth);
            pool.Return(fourth);
            pool.Return(third);
            pool.Return(second);
            pool.Return(first);
        }
    }
}
