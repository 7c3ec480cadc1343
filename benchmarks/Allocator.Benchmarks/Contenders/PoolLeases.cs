namespace Allocator.Benchmarks.Contenders;

/// <summary>The pool of this library, by <c>Rent</c>: a lease without an object.</summary>
internal sealed class PoolLeases : Contender
{
    private readonly MemoryAllocator _allocator = MeasuredPool.Create();

    /// <inheritdoc/>
    public override void HoldOne(int count)
    {
        for (int i = 0; i < count; i++)
        {
            using MemoryLease<byte> lease = _allocator.Rent<byte>(BlockSizeInBytes);
            Work.On(lease.Length);
        }
    }

    /// <inheritdoc/>
    public override void HoldFour(int count)
    {
        for (int i = 0; i < count; i += Four)
        {
            using MemoryLease<byte> first = _allocator.Rent<byte>(BlockSizeInBytes);
            Work.On(first.Length);
            using MemoryLease<byte> second = _allocator.Rent<byte>(BlockSizeInBytes);
            Work.On(second.Length);
            using MemoryLease<byte> third = _allocator.Rent<byte>(BlockSizeInBytes);
            Work.On(third.Length);
            using MemoryLease<byte> fourth = _allocator.Rent<byte>(BlockSizeInBytes);
            Work.On(fourth.Length);
        }
    }

    /// <inheritdoc/>
    public override void Dispose() => _allocator.Dispose();
}
