using Allocator;
using Measuring.Sources;

namespace Measurements.Alignment;

/// <summary>The ways that are compared.</summary>
internal sealed class AllocationWays : IDisposable
{
    /// <summary>The alignment that is asked for, in bytes: a cache line, and the widest vector register.</summary>
    public const int Alignment = 64;

    private const int ArrayThreshold = 1 << 20;
    private const int BlockAlignment = 2 << 20;

    // All buffers of the alignment check are outstanding at once: a little below 1.5 GB, and next to nothing of that is touched.
    private const int PoolMegabytes = 4096;

    private readonly List<MemoryAllocator> _allocators = [];
    private readonly AllocationWay _overAllocated = Native(
        "over-allocated", new MemorySource.OverAlignedHeap(Alignment), Alignment);

    private readonly AllocationWay _native = Native("native", new MemorySource.AlignedHeap(Alignment), Alignment);
    private readonly AllocationWay _pages = Native(PageMemory.CallName, default(MemorySource.Pages), Environment.SystemPageSize);

    /// <summary>Makes the ways that the sweeps time, the one first that the others are compared with.</summary>
    public IReadOnlyList<AllocationWay> ForSweeps()
    {
        MemoryAllocator pool = Create(NativeMemoryKind.Virtual);
        return [_overAllocated, _native, _pages, Aligned("pool, aligned", pool, Alignment, AlignedBlock(Alignment)), Unaligned(pool)];
    }

    /// <summary>Makes the ways whose alignment is checked.</summary>
    public IReadOnlyList<AllocationWay> ForChecks()
    {
        MemoryAllocator pool = Create(NativeMemoryKind.Virtual);
        int[] alignments = [Alignment, Environment.SystemPageSize, BlockAlignment];
        NativeMemoryKind[] kinds = [NativeMemoryKind.Heap, NativeMemoryKind.HGlobal, NativeMemoryKind.CoTaskMem];
        return
        [
            Native("malloc (control)", default(MemorySource.Heap), 2 * IntPtr.Size),
            _overAllocated,
            _native,
            _pages,
            Unaligned(pool),
            .. alignments.Select(alignment => Aligned($"pool, AllocateAligned {alignment}", pool, alignment, AlignedBlock(alignment))),
            .. kinds.Select(kind => Aligned(
                $"pool over {kind}, AllocateAligned {Alignment}", Create(kind), Alignment, static _ => Alignment)),
        ];
    }

    public void Dispose() => _allocators.ForEach(allocator => allocator.Dispose());

    private static AllocationWay<TSource, HeldAddress> Native<TSource>(string name, TSource source, int alignment)
        where TSource : struct, IMemorySource<HeldAddress> => new(name, source, _ => alignment);

    private static AllocationWay<MemorySource.AlignedOwners, HeldOwner> Aligned(
        string name, MemoryAllocator allocator, int alignment, Func<int, int> promise)
        => new(name, new MemorySource.AlignedOwners(allocator, alignment), promise);

    private static AllocationWay<MemorySource.Owners, HeldOwner> Unaligned(MemoryAllocator pool)
        => new("pool, Allocate", new MemorySource.Owners(pool), static bytes => bytes > ArrayThreshold ? BlockAlignment : IntPtr.Size);

    private static Func<int, int> AlignedBlock(int alignment) => bytes => bytes > ArrayThreshold ? BlockAlignment : alignment;

    private MemoryAllocator Create(NativeMemoryKind kind)
    {
        MemoryAllocator allocator =
            MemoryAllocator.Create(new MemoryAllocatorOptions { MaximumPoolSizeMegabytes = PoolMegabytes, NativeMemory = kind });
        _allocators.Add(allocator);
        return allocator;
    }
}
