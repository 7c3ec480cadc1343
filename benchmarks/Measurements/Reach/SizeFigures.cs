namespace Measurements.Reach;

/// <summary>
/// Requests below a block, which are served by arrays, and above one: groups, contiguous images, memory beyond the pool.
/// </summary>
internal static class SizeFigures
{
    private const int Side = 4096;

    public static IEnumerable<Figure> OfArrays(Effort effort)
    {
        using MemoryAllocator allocator = MemoryAllocator.Create();
        foreach (int length in (int[])[64 << 10, 1 << 20])
        {
            IReadOnlyList<OperationTime> times =
                effort.Compare(Loops.Array(length), Loops.Owner(allocator, length), Loops.Lease(allocator, length));
            string size = $"{length >> 10} KB";
            yield return new Figure(
                $"Allocate {size} + Dispose: share of its time", "ArrayPool<byte>.Shared", times[1].Ratio, Limit: 3, Margin: 3);
            yield return new Figure(
                $"Rent {size} + Dispose: share of its time", "ArrayPool<byte>.Shared", times[2].Ratio, Limit: 4, Aim: 2, Margin: 2.5);
            yield return new Figure($"Allocate {size} + Dispose: GC bytes", "bytes", times[1].AllocatedBytes, Limit: 40);
        }
    }

    // A discontiguous pixel buffer of 64 MiB.
    public static IEnumerable<Figure> OfGroups(Effort effort)
    {
        using MemoryAllocator allocator = MemoryAllocator.Create();
        ClassicAllocator classic = new(capacity: 32);
        IReadOnlyList<OperationTime> times = effort.Compare(
            count =>
            {
                for (int i = 0; i < count; i++)
                {
                    allocator.AllocatePixels<uint>(Side, Side).Dispose();
                }
            },
            count =>
            {
                for (int i = 0; i < count; i++)
                {
                    classic.AllocateRows<uint>(Side, Side).Dispose();
                }
            });
        classic.Release();
        yield return new Figure(
            "Pixel buffer of 64 MB in 16 blocks: times faster", "classic model", times[1].Ratio,
            Limit: 5, MoreIsBetter: true, Margin: 2.5);

        // The buffer, its group, and one array of addresses: what is allocated grows by one pointer a block, and by no object.
        double sixteenMore = BytesOf(allocator, 2 * Side) - times[0].AllocatedBytes;
        yield return new Figure("Pixel buffer: GC bytes for a further block", "bytes", sixteenMore / 16, Limit: IntPtr.Size);
    }

    // Contiguous images: allocated, a byte of each page written, given back; over and over.
    public static IEnumerable<Figure> OfContiguousImages(Effort effort)
    {
        yield return new Figure(
            "64 MB contiguous, allocate + touch + dispose: times faster", "AllocHGlobal", 1 / CompareWithHeap(effort, 64 << 20),
            Limit: 20, MoreIsBetter: true, Margin: 2);
        yield return new Figure(
            "14 MB contiguous, allocate + touch + dispose: share of its time", "AllocHGlobal", CompareWithHeap(effort, 14 << 20),
            Limit: 1.1, Margin: 2);
    }

    // Memory beyond the pool: it comes from the system each time, and the first write to each page is what it costs.
    public static IEnumerable<Figure> OfFirstTouch(Effort effort, bool hasHugePages)
    {
        // Without a pool every request is oversize.
        using MemoryAllocator allocator = MemoryAllocator.Create(new MemoryAllocatorOptions { MaximumPoolSizeMegabytes = 0 });
        foreach (int length in (int[])[32 << 20, 128 << 20])
        {
            double? ratio = hasHugePages
                ? effort.CompareLong(Loops.TouchedLease(allocator, length), Loops.TouchedHeap(length))[1].Ratio
                : null;
            yield return new Figure(
                $"First touch of {length >> 20} MB beyond the pool: times faster", "AllocHGlobal", ratio,
                Limit: 5, MoreIsBetter: true, Margin: 3);
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
