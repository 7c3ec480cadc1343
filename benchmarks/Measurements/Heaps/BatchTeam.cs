using Allocator;
using Measuring.Natives;
using Measuring.Sources;

namespace Measurements.Heaps;

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
