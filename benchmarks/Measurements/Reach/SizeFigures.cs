namespace Measurements.Reach;

/// <summary>
/// Requests below a block, which are served by arrays and the heap, and above one: groups, contiguous memory, memory beyond the pool.
/// </summary>
internal static class SizeFigures
{
    private const int Side = 4096;

    public static IEnumerable<Figure> OfArrays(Effort effort)
    {
        using MemoryAllocator allocator = MemoryAllocator.Create();
        foreach (int length in (int[])[64 << 10, 1 << 20])
        {
            double[] owners = effort.Shares(Loops.SharedOwner(length), Loops.Owner(allocator, length));
            double[] leases = effort.Shares(Loops.Array(length), Loops.Lease(allocator, length));
            string size = $"{length >> 10} KB";
            yield return new Figure(
                $"owner of {size}: share of its time", "MemoryPool<byte>.Shared", owners[1], Limit: 1.8, Aim: 1.4, Margin: 2.5);
            yield return new Figure(
                $"lease of {size}: share of its time", "ArrayPool<byte>.Shared", leases[1], Limit: 2.5, Aim: 2, Margin: 3);
        }
    }

    // A discontiguous pixel buffer of 64 MiB.
    public static IEnumerable<Figure> OfGroups(Effort effort)
    {
        using MemoryAllocator allocator = MemoryAllocator.Create();
        ClassicAllocator classic = new(capacity: 32);
        double[] shares = effort.Shares(
            Loops.Each(() => allocator.AllocatePixels<uint>(Side, Side).Dispose()),
            Loops.Each(() => classic.AllocateRows<uint>(Side, Side).Dispose()));
        classic.Release();
        yield return new Figure(
            "pixel buffer of 64 MB in 16 blocks: times faster", "classic model", shares[1], Limit: 6, MoreIsBetter: true, Margin: 2.5);

        // The buffer, its group, and one array of addresses: what is allocated grows by one pointer a block, and by no object.
        double sixteenMore = BytesOf(allocator, 2 * Side) - BytesOf(allocator, Side);
        yield return new Figure("pixel buffer: GC bytes for a further block", "bytes", sixteenMore / 16, Limit: IntPtr.Size);
    }

    // Contiguous memory untouched, and contiguous images: allocated, a byte of each page written, given back; over and over.
    public static IEnumerable<Figure> OfContiguousImages(Effort effort)
    {
        const int Run = 16 << 20;
        using MemoryAllocator allocator = MemoryAllocator.Create();
        double[] shares = effort.Shares(Loops.Heap(Run), Loops.Lease(allocator, Run));
        yield return new Figure("lease of 16 MB contiguous: share of its time", "malloc, untouched", shares[1], Limit: 1.5, Margin: 4);
        using ThreadTeam heaps = new(2, (_, count) => Loops.Heap(Run)(count));
        using ThreadTeam leases = new(2, (_, count) => Loops.Lease(allocator, Run)(count));
        double two = effort.Compare(heaps.Run, leases.Run)[1].Ratio;
        yield return new Figure("lease of 16 MB contiguous, 2 threads: share", "malloc, untouched", two, Limit: 1.5, Margin: 6);
        using MemoryAllocator crowded = MemoryAllocator.Create();
        using ThreadTeam others = new(4, (_, count) => Loops.Lease(crowded, Run / 4)(count));
        others.Run(1000);
        double[] states = effort.Shares(Loops.Heap(Run), Loops.Lease(crowded, Run));
        yield return new Figure(
            "lease of 16 MB contiguous, blocks cached near other threads: share", "malloc, untouched", states[1], Limit: 1.5, Margin: 4);
        using MemoryAllocator limited = MemoryAllocator.Create(new MemoryAllocatorOptions { MemoryBudgetMegabytes = 512 });
        states = effort.Shares(Loops.Heap(Run), Loops.Lease(limited, Run));
        yield return new Figure("lease of 16 MB contiguous, budget: share", "malloc, untouched", states[1], Limit: 1.5, Margin: 4);
        yield return new Figure(
            "64 MB contiguous, allocated and touched: times faster", "AllocHGlobal", 1 / CompareWithHeap(effort, 64 << 20),
            Limit: 20, MoreIsBetter: true, Margin: 2);
    }

    public static IEnumerable<Figure> OfSmallAligned(Effort effort)
    {
        using MemoryAllocator allocator = MemoryAllocator.Create();
        foreach ((int length, int alignment) in ((int, int)[])[(1 << 10, 64), (64 << 10, 64), (64 << 10, 4096), (512 << 10, 4096)])
        {
            double[] shares = effort.Shares(Loops.AlignedHeap(length, alignment), Loops.AlignedOwner(allocator, length, alignment));
            yield return new Figure(
                $"owner of {length >> 10} KB aligned to {alignment}: share", "NativeMemory.AlignedAlloc", shares[1], Limit: 3, Margin: 3);
        }
    }

    public static IEnumerable<Figure> OfCreation(Effort effort)
    {
        using MemoryAllocator first = MemoryAllocator.Create();
        OperationTime creation = effort.Compare(Loops.Each(static () => MemoryAllocator.Create().Dispose()))[0];
        yield return new Figure("a further Create() and Dispose()", "µs", creation.Best / 1000, Limit: 20, Margin: 5);
    }

    // Memory beyond the pool: it comes from the system each time, and the first write to each page is what it costs.
    public static IEnumerable<Figure> OfFirstTouch(Effort effort, bool hasHugePages)
    {
        // Without a pool every request is oversize.
        using MemoryAllocator allocator = MemoryAllocator.Create(new MemoryAllocatorOptions { MaximumPoolSizeMegabytes = 0 });
        foreach (int length in (int[])[32 << 20, 128 << 20])
        {
            double? ratio = hasHugePages
                ? effort.CompareLong(Loops.TouchedLease(allocator, length), Loops.TouchedHugePages(length))[1].Ratio
                : null;
            yield return new Figure(
                $"first touch of {length >> 20} MB beyond the pool: share of its speed", "2 MiB-aligned mapping, MADV_HUGEPAGE", ratio,
                Limit: 0.9, MoreIsBetter: true, Margin: 3);
        }
    }

    private static double CompareWithHeap(Effort effort, int length)
    {
        using MemoryAllocator allocator = MemoryAllocator.Create();
        return effort.CompareLong(Loops.TouchedHeap(length), Loops.TouchedLease(allocator, length))[1].Ratio;
    }

    private static long BytesOf(MemoryAllocator allocator, int height)
    {
        allocator.AllocatePixels<uint>(Side, height).Dispose();
        long before = GC.GetAllocatedBytesForCurrentThread();
        allocator.AllocatePixels<uint>(Side, height).Dispose();
        return GC.GetAllocatedBytesForCurrentThread() - before;
    }
}
