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
            ArrayPool<byte>.Shared.Return(ArrayPool<byte>.Shared.Rent(BlockSizeInBytes));
        }
    }

    /// <inheritdoc/>
    public override void HoldFour(int count)
    {
        ArrayPool<byte> pool = ArrayPool<byte>.Shared;
        for (int i = 0; i < count; i += Four)
        {
            byte[] first = pool.Rent(BlockSizeInBytes);
            byte[] second = pool.Rent(BlockSizeInBytes);
            byte[] third = pool.Rent(BlockSizeInBytes);
            byte[] fourth = pool.Rent(BlockSizeInBytes);
            pool.Return(fourth);
            pool.Return(third);
            pool.Return(second);
            pool.Return(first);
        }
    }
}
