namespace Allocator.Benchmarks.Contenders;

/// <summary>A way to get and give back blocks of 4 MB, in loops that any number of threads may run at once.</summary>
internal abstract class Contender : IDisposable
{
    public const int Four = 4;

    protected const int BlockSizeInBytes = 4 << 20;

    public abstract void HoldOne(int count);

    /// <summary>Rents four blocks, then returns the four, until <paramref name="count"/> blocks were had: a multiple of four.</summary>
    public abstract void HoldFour(int count);

    public virtual void Dispose()
    {
    }
}

/// <summary>Blocks of a source of memory.</summary>
internal sealed class Contender<TSource, THeld>(TSource source, Action? dispose = null) : Contender
    where TSource : struct, IMemorySource<THeld>
    where THeld : struct, IHeldBytes
{
    private readonly TSource _source = source;

    public override void HoldOne(int count)
    {
        TSource source = _source;
        for (int i = 0; i < count; i++)
        {
            THeld held = source.Allocate(BlockSizeInBytes);
            Work.On(held);
            source.Free(held, BlockSizeInBytes);
        }
    }

    public override void HoldFour(int count)
    {
        TSource source = _source;
        for (int i = 0; i < count; i += Four)
        {
            THeld first = source.Allocate(BlockSizeInBytes);
            Work.On(first);
            THeld second = source.Allocate(BlockSizeInBytes);
            Work.On(second);
            THeld third = source.Allocate(BlockSizeInBytes);
            Work.On(third);
            THeld fourth = source.Allocate(BlockSizeInBytes);
            Work.On(fourth);
            source.Free(fourth, BlockSizeInBytes);
            source.Free(third, BlockSizeInBytes);
            source.Free(second, BlockSizeInBytes);
            source.Free(first, BlockSizeInBytes);
        }
    }

    public override void Dispose() => dispose?.Invoke();
}

/// <summary>The pool of this library, by <c>Rent</c>: a lease without an object.</summary>
internal sealed class PoolLeases : Contender
{
    private readonly MemoryAllocator _allocator = MeasuredPool.Create();

    public override void HoldOne(int count)
    {
        for (int i = 0; i < count; i++)
        {
            using MemoryLease<byte> lease = _allocator.Rent<byte>(BlockSizeInBytes);
            Work.On(lease.Length);
        }
    }

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

    public override void Dispose() => _allocator.Dispose();
}
