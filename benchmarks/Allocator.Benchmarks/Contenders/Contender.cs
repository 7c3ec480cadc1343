namespace Allocator.Benchmarks.Contenders;

/// <summary>A way to get and give back blocks of 4 MB, in loops that any number of threads may run at once.</summary>
internal abstract class Contender
{
    public const int Four = 4;

    protected const int BlockSizeInBytes = 4 << 20;

    public abstract void HoldOne(int count);

    /// <summary>Rents four blocks, then returns the four, until <paramref name="count"/> blocks were had: a multiple of four.</summary>
    public abstract void HoldFour(int count);
}

/// <summary>Blocks of a source of memory.</summary>
internal sealed class Contender<TSource, THeld>(TSource source) : Contender
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
            PoolBenchmarks.Work(held);
            source.Free(held, BlockSizeInBytes);
        }
    }

    public override void HoldFour(int count)
    {
        TSource source = _source;
        for (int i = 0; i < count; i += Four)
        {
            THeld first = source.Allocate(BlockSizeInBytes);
            PoolBenchmarks.Work(first);
            THeld second = source.Allocate(BlockSizeInBytes);
            PoolBenchmarks.Work(second);
            THeld third = source.Allocate(BlockSizeInBytes);
            PoolBenchmarks.Work(third);
            THeld fourth = source.Allocate(BlockSizeInBytes);
            PoolBenchmarks.Work(fourth);
            source.Free(fourth, BlockSizeInBytes);
            source.Free(third, BlockSizeInBytes);
            source.Free(second, BlockSizeInBytes);
            source.Free(first, BlockSizeInBytes);
        }
    }
}

/// <summary>The pool of this library, by <c>Rent</c>: a lease without an object.</summary>
internal sealed class PoolLeases(MemoryAllocator allocator) : Contender
{
    public override void HoldOne(int count)
    {
        for (int i = 0; i < count; i++)
        {
            using MemoryLease<byte> lease = allocator.Rent<byte>(BlockSizeInBytes);
            PoolBenchmarks.Work(lease.Length);
        }
    }

    public override void HoldFour(int count)
    {
        for (int i = 0; i < count; i += Four)
        {
            using MemoryLease<byte> first = allocator.Rent<byte>(BlockSizeInBytes);
            PoolBenchmarks.Work(first.Length);
            using MemoryLease<byte> second = allocator.Rent<byte>(BlockSizeInBytes);
            PoolBenchmarks.Work(second.Length);
            using MemoryLease<byte> third = allocator.Rent<byte>(BlockSizeInBytes);
            PoolBenchmarks.Work(third.Length);
            using MemoryLease<byte> fourth = allocator.Rent<byte>(BlockSizeInBytes);
            PoolBenchmarks.Work(fourth.Length);
        }
    }
}
