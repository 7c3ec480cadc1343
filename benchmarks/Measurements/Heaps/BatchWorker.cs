namespace Measurements.Heaps;

/// <summary>One thread's part of the work: batches of allocations, then as many frees, each half timed as a whole.</summary>
internal abstract class BatchWorker
{
    /// <summary>
    /// Gets the times of the last call of <see cref="Run"/>, in ticks, one for each run, with one reading of the clock a batch in each
    /// half.
    /// </summary>
    public (long Allocate, long Free)[] Runs { get; private set; } = [];

    /// <summary>Does <paramref name="runs"/> runs of <paramref name="batches"/> batches each, without a pause between them.</summary>
    public void Run(int runs, int batches)
    {
        // Summed up in locals, and kept in an array of the thread's own: workers are neighbours in memory, and would share cache lines.
        (long Allocate, long Free)[] times = new (long, long)[runs];
        for (int run = 0; run < times.Length; run++)
        {
            times[run] = RunBatches(batches);
        }

        Runs = times;
    }

    /// <summary>Allocates and frees one batch, and returns the time between the two.</summary>
    public abstract long RunBatch();

    private (long Allocate, long Free) RunBatches(int batches)
    {
        long allocateTicks = 0;
        long freeTicks = 0;
        for (int i = 0; i < batches; i++)
        {
            long start = Stopwatch.GetTimestamp();
            long middle = RunBatch();
            long end = Stopwatch.GetTimestamp();
            allocateTicks += middle - start;
            freeTicks += end - middle;
        }

        return (allocateTicks, freeTicks);
    }
}

/// <summary>A worker that keeps what it holds in an array, and frees the last block first.</summary>
internal sealed class BlockBatchWorker<TSource, THeld>(TSource source, SizeClass sizeClass) : BatchWorker
    where TSource : struct, IMemorySource<THeld>
    where THeld : struct, IHeldBytes
{
    private readonly TSource _source = source;
    private readonly THeld[] _blocks = new THeld[sizeClass.Blocks];

    public override long RunBatch()
    {
        TSource source = _source;
        THeld[] blocks = _blocks;
        int size = sizeClass.SizeInBytes;
        bool touch = sizeClass.IsTouched;
        for (int i = 0; i < blocks.Length; i++)
        {
            THeld block = source.Allocate(size);
            if (touch)
            {
                PageTouch.Write(block.GetBytes(size));
            }

            blocks[i] = block;
        }

        long middle = Stopwatch.GetTimestamp();
        for (int i = blocks.Length - 1; i >= 0; i--)
        {
            source.Free(blocks[i], size);
        }

        return middle;
    }
}

/// <summary>
/// A worker that holds leases. They live on the stack and in no array, so a batch is a recursion with four of them a level, whose calls
/// cost about a nanosecond for four leases. They are freed as the recursion unwinds: the last first, as elsewhere.
/// </summary>
internal sealed class LeaseBatchWorker(MemoryAllocator allocator, SizeClass sizeClass) : BatchWorker
{
    private const int LeasesPerLevel = 4;

    public override long RunBatch() => Hold(sizeClass.Blocks / LeasesPerLevel);

    // Not `using`: a lease lost to an exception ends the process anyway, and the handlers would be part of the time.
    private long Hold(int levels)
    {
        int size = sizeClass.SizeInBytes;
        MemoryLease<byte> first = allocator.Rent<byte>(size);
        Touch(ref first);
        MemoryLease<byte> second = allocator.Rent<byte>(size);
        Touch(ref second);
        MemoryLease<byte> third = allocator.Rent<byte>(size);
        Touch(ref third);
        MemoryLease<byte> fourth = allocator.Rent<byte>(size);
        Touch(ref fourth);
        long middle = levels > 1 ? Hold(levels - 1) : Stopwatch.GetTimestamp();
        fourth.Dispose();
        third.Dispose();
        second.Dispose();
        first.Dispose();
        return middle;
    }

    private void Touch(ref MemoryLease<byte> lease)
    {
        if (sizeClass.IsTouched)
        {
            PageTouch.Write(lease.Span);
        }
    }
}

/// <summary>The workers of one child, one for each thread, and the heap that they share.</summary>
internal sealed class BatchTeam(BatchWorker[] workers, MemoryAllocator? pool = null, string? version = null) : IDisposable
{
    private const long Megabyte = 1 << 20;

    public BatchWorker[] Workers => workers;

    /// <summary>Gets the version of the heap's library; null where it is part of .NET, of the system or of this repository.</summary>
    public string? Version => version;

    /// <summary>
    /// Makes <paramref name="threads"/> workers on one heap, or returns null and the reason where this system does not have it.
    /// </summary>
    public static BatchTeam? TryCreate(HeapKind kind, SizeClass sizeClass, int threads, out string? reason)
    {
        reason = null;
        switch (kind)
        {
            case HeapKind.PoolOwner or HeapKind.PoolLease:
                // A pool too small for all that is outstanding would be measured as the system's mmap.
                long held = (long)sizeClass.SizeInBytes * sizeClass.Blocks * threads / Megabyte;
                MemoryAllocator pool =
                    MemoryAllocator.Create(new MemoryAllocatorOptions { MaximumPoolSizeMegabytes = checked((int)held + 64) });
                return kind == HeapKind.PoolLease
                    ? new BatchTeam(Repeat(threads, () => new LeaseBatchWorker(pool, sizeClass)), pool)
                    : new BatchTeam(Of<MemorySource.Owners, HeldOwner>(new MemorySource.Owners(pool)), pool);
            case HeapKind.ArrayPool:
                return new BatchTeam(Of<MemorySource.Arrays, HeldArray>(default));
            case HeapKind.NativeMemory:
                return new BatchTeam(Of<MemorySource.Heap, HeldAddress>(default));
            default:
                NativeAllocatorKind library = kind switch
                {
                    HeapKind.Mimalloc => NativeAllocatorKind.Mimalloc,
                    HeapKind.Jemalloc => NativeAllocatorKind.Jemalloc,
                    _ => NativeAllocatorKind.Tbb,
                };
                return NativeAllocator.TryLoad(library, out NativeAllocator? allocator, out reason)
                    ? new BatchTeam(Of<MemorySource.Loaded, HeldAddress>(new MemorySource.Loaded(allocator)), version: allocator.Version)
                    : null;
        }

        BatchWorker[] Of<TSource, THeld>(TSource source)
            where TSource : struct, IMemorySource<THeld>
            where THeld : struct, IHeldBytes
            => Repeat(threads, () => new BlockBatchWorker<TSource, THeld>(source, sizeClass));
    }

    public void Dispose() => pool?.Dispose();

    private static BatchWorker[] Repeat(int threads, Func<BatchWorker> create) => [.. Enumerable.Range(0, threads).Select(_ => create())];
}
