namespace Measurements.Reach;

/// <summary>Blocks of 4 MiB: owners by one thread and by several at once, and leases.</summary>
internal static class BlockFigures
{
    private const int Length = 4 << 20;

    public static IEnumerable<Figure> OfOneThread(Effort effort)
    {
        using MemoryAllocator allocator = MemoryAllocator.Create();
        ClassicAllocator classic = new(capacity: 8);
        IReadOnlyList<OperationTime> times = effort.Compare(
            Loops.Owner(allocator, Length), Loops.ClassicOwner(classic, Length), Loops.SharedOwner(Length));
        classic.Release();
        yield return new Figure(
            "Allocate 4 MB + Dispose, 1 thread: times faster", "classic model", times[1].Ratio,
            Limit: 4, Aim: 8, MoreIsBetter: true, Margin: 3);
        yield return new Figure(
            "Allocate 4 MB + Dispose, 1 thread: share of its time", "MemoryPool<byte>.Shared", 1 / times[2].Ratio,
            Limit: 2.5, Aim: 1.5, Margin: 2.5);
        yield return new Figure("Allocate 4 MB + Dispose: GC bytes", "bytes", times[0].AllocatedBytes, Limit: 40);
    }

    public static IEnumerable<Figure> OfSeveralThreads(Effort effort)
    {
        using MemoryAllocator allocator = MemoryAllocator.Create();
        ClassicAllocator classic = new(capacity: 64);
        Action<int> ours = Loops.Owner(allocator, Length);
        Action<int> theirs = Loops.ClassicOwner(classic, Length);
        foreach (int threads in (int[])[2, 8])
        {
            using ThreadTeam alone = new(1, (_, count) => ours(count));
            using ThreadTeam ourTeam = new(threads, (_, count) => ours(count));
            using ThreadTeam theirTeam = new(threads, (_, count) => theirs(count));
            IReadOnlyList<OperationTime> times = effort.Compare(ourTeam.Run, theirTeam.Run, alone.Run);

            // Of a wide margin: where a neighbour takes one of two cores there is no contention to be better at.
            string what = $"Allocate 4 MB + Dispose, {threads} threads: times faster";
            yield return new Figure(what, "classic model", times[1].Ratio, Limit: 12, MoreIsBetter: true, Margin: 12);
            if (threads == 2)
            {
                yield return new Figure(
                    "Allocate 4 MB + Dispose, 2 threads: times its throughput", "1 thread", times[2].Ratio,
                    Limit: 1.7, MoreIsBetter: true, Margin: 6);
            }
        }

        classic.Release();
    }

    public static IEnumerable<Figure> OfLeases(Effort effort)
    {
        using MemoryAllocator allocator = MemoryAllocator.Create();
        ArrayPool<byte> arrays = ArrayPool<byte>.Shared;
        OperationTime one = effort.Compare(Loops.Array(Length), Loops.Lease(allocator, Length))[1];
        yield return new Figure(
            "Rent 4 MB + Dispose, one held: share of its time", "ArrayPool<byte>.Shared", one.Ratio, Limit: 4, Aim: 2, Margin: 2.5);
        yield return new Figure("Rent 4 MB + Dispose: GC bytes", "bytes", one.AllocatedBytes, Limit: 0);
        OperationTime four = effort.Compare(count => RentFourArrays(arrays, count), count => RentFourLeases(allocator, count))[1];
        yield return new Figure(
            "Rent 4 MB + Dispose, four held: share of its time", "ArrayPool<byte>.Shared", four.Ratio, Limit: 1, Margin: 2);
    }

    private static void RentFourArrays(ArrayPool<byte> arrays, int count)
    {
        for (int i = 0; i < count; i++)
        {
            byte[] first = arrays.Rent(Length);
            byte[] second = arrays.Rent(Length);
            byte[] third = arrays.Rent(Length);
            byte[] fourth = arrays.Rent(Length);
            arrays.Return(fourth);
            arrays.Return(third);
            arrays.Return(second);
            arrays.Return(first);
        }
    }

    private static void RentFourLeases(MemoryAllocator allocator, int count)
    {
        for (int i = 0; i < count; i++)
        {
            using MemoryLease<byte> first = allocator.Rent<byte>(Length);
            using MemoryLease<byte> second = allocator.Rent<byte>(Length);
            using MemoryLease<byte> third = allocator.Rent<byte>(Length);
            using MemoryLease<byte> fourth = allocator.Rent<byte>(Length);
        }
    }
}
