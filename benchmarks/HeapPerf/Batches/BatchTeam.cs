using System;
using Allocator;
using HeapPerf.Heaps;
using Measuring.Natives;

namespace HeapPerf.Batches;

/// <summary>The workers of one child, and the heap that they share.</summary>
internal sealed class BatchTeam : IDisposable
{
    private readonly MemoryAllocator? _pool;

    private BatchTeam(BatchWorker[] workers, MemoryAllocator? pool = null, string? version = null)
    {
        Workers = workers;
        _pool = pool;
        Version = version;
    }

    /// <summary>Gets the workers, one for each thread.</summary>
    public BatchWorker[] Workers { get; }

    /// <summary>Gets the version of the heap's library; null where it is part of .NET, of the system or of this repository.</summary>
    public string? Version { get; }

    /// <summary>Makes <paramref name="threads"/> workers on one heap.</summary>
    /// <exception cref="HeapUnavailableException">The system does not have it.</exception>
    public static BatchTeam Create(HeapKind kind, SizeClass sizeClass, int threads) => kind switch
    {
        HeapKind.PoolOwner => OfPool(sizeClass, threads, pool => new BlockBatchWorker<OwnerBlock, PoolOwnerSource>(new(pool), sizeClass)),
        HeapKind.PoolLease => OfPool(sizeClass, threads, pool => new LeaseBatchWorker(pool, sizeClass)),
        HeapKind.ArrayPool => new(CreateWorkers(threads, () => new BlockBatchWorker<ArrayBlock, ArrayPoolSource>(default, sizeClass))),
        HeapKind.NativeMemory => new(CreateWorkers(threads, () => new BlockBatchWorker<nint, NativeMemorySource>(default, sizeClass))),
        HeapKind.Mimalloc => OfLibrary(NativeAllocatorKind.Mimalloc, sizeClass, threads),
        HeapKind.Jemalloc => OfLibrary(NativeAllocatorKind.Jemalloc, sizeClass, threads),
        HeapKind.Tbb => OfLibrary(NativeAllocatorKind.Tbb, sizeClass, threads),
        _ => throw new ArgumentOutOfRangeException(nameof(kind), kind, "must be a defined value"),
    };

    /// <inheritdoc/>
    public void Dispose() => _pool?.Dispose();

    // A pool too small for all that is out would be measured as the system's mmap.
    private static BatchTeam OfPool(SizeClass sizeClass, int threads, Func<MemoryAllocator, BatchWorker> create)
    {
        const long Megabyte = 1 << 20;
        long held = (long)sizeClass.SizeInBytes * sizeClass.Blocks * threads / Megabyte;
        MemoryAllocator pool = MemoryAllocator.Create(new MemoryAllocatorOptions { MaximumPoolSizeMegabytes = checked((int)held + 64) });
        return new BatchTeam(CreateWorkers(threads, () => create(pool)), pool);
    }

    private static BatchTeam OfLibrary(NativeAllocatorKind kind, SizeClass sizeClass, int threads)
    {
        if (!NativeAllocator.TryLoad(kind, out NativeAllocator? allocator, out string? reason))
        {
            throw new HeapUnavailableException(reason);
        }

        return new BatchTeam(
            CreateWorkers(threads, () => new BlockBatchWorker<nint, LoadedSource>(new(allocator), sizeClass)), version: allocator.Version);
    }

    private static BatchWorker[] CreateWorkers(int threads, Func<BatchWorker> create)
    {
        BatchWorker[] workers = new BatchWorker[threads];
        for (int i = 0; i < threads; i++)
        {
            workers[i] = create();
        }

        return workers;
    }
}
