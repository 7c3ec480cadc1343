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

/// <summary>A way to allocate, with its name and what it promises about addresses.</summary>
/// <param name="name">The name, as tables show it.</param>
/// <param name="promise">The alignment in bytes that a buffer of a number of bytes must have.</param>
internal abstract class AllocationWay(string name, Func<int, int> promise)
{
    public string Name => name;

    public int PromisedAlignment(int bytes) => promise(bytes);

    /// <summary>Allocates one buffer to be looked at.</summary>
    public abstract (Func<Span<byte>> GetBytes, Action Free) Hold(int bytes);

    /// <summary>
    /// Allocates and frees a buffer of each of <paramref name="sizes"/> bytes in turn, <paramref name="passes"/> times over, and writes to
    /// every page of each where that is asked for.
    /// </summary>
    public abstract void Sweep(int[] sizes, int passes, bool touch);
}

/// <summary>A way to allocate, by one source of memory.</summary>
internal sealed class AllocationWay<TSource, THeld>(string name, TSource source, Func<int, int> promise) : AllocationWay(name, promise)
    where TSource : struct, IMemorySource<THeld>
    where THeld : struct, IHeldBytes
{
    private readonly TSource _source = source;

    public override (Func<Span<byte>> GetBytes, Action Free) Hold(int bytes)
    {
        THeld held = _source.Allocate(bytes);
        return (() => held.GetBytes(bytes), () => _source.Free(held, bytes));
    }

    public override void Sweep(int[] sizes, int passes, bool touch)
    {
        if (touch)
        {
            SweepTouching(sizes, passes);
            return;
        }

        TSource source = _source;
        for (int pass = 0; pass < passes; pass++)
        {
            foreach (int bytes in sizes)
            {
                source.Free(source.Allocate(bytes), bytes);
            }
        }
    }

    private void SweepTouching(int[] sizes, int passes)
    {
        TSource source = _source;
        for (int pass = 0; pass < passes; pass++)
        {
            foreach (int bytes in sizes)
            {
                THeld held = source.Allocate(bytes);
                PageTouch.Write(held.GetBytes(bytes));
                source.Free(held, bytes);
            }
        }
    }
}
