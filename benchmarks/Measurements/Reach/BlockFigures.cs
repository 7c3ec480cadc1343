namespace Measurements.Reach;

/// <summary>Blocks of 4 MiB: owners and leases, by one thread and by several at once, without a budget and with one.</summary>
internal static class BlockFigures
{
    private const int Length = 4 << 20;

    public static IEnumerable<Figure> OfOneThread(Effort effort)
    {
        using MemoryAllocator allocator = MemoryAllocator.Create();
        ClassicAllocator classic = new(capacity: 8);
        OperationTime owner = effort.Compare(Loops.Owner(allocator, Length))[0];
        OperationTime lease = effort.Compare(Loops.Lease(allocator, Length))[0];
        double[] owners = effort.Shares(Loops.SharedOwner(Length), Loops.Owner(allocator, Length));
        double[] leases = effort.Shares(Loops.Array(Length), Loops.Lease(allocator, Length));
        double[] classics = effort.Shares(Loops.Owner(allocator, Length), Loops.ClassicOwner(classic, Length));
        classic.Release();
        yield return new Figure(
            "owner of 4 MB, 1 thread: share of its time", "MemoryPool<byte>.Shared", owners[1], Limit: 1.8, Aim: 1.4, Margin: 2.5);
        yield return new Figure(
            "lease of 4 MB, 1 thread: share of its time", "ArrayPool<byte>.Shared", leases[1], Limit: 2.5, Aim: 2, Margin: 3);
        yield return new Figure(
            "owner of 4 MB, 1 thread: times faster", "classic model", classics[1], Limit: 4, Aim: 8, MoreIsBetter: true, Margin: 3);
        yield return new Figure("owner of 4 MB: GC bytes", "bytes", owner.AllocatedBytes, Limit: 32);
        yield return new Figure("lease of 4 MB: GC bytes", "bytes", lease.AllocatedBytes, Limit: 0);
    }

    public static IEnumerable<Figure> OfSeveralThreads(Effort effort)
    {
        using MemoryAllocator allocator = MemoryAllocator.Create();
        foreach (int threads in (int[])[2, 8, 32])
        {
            yield return new Figure(
                $"owner of 4 MB, {threads} threads: share of its processor time", "1 thread",
                effort.ShareOfTeam(threads, Loops.Owner(allocator, Length)), Limit: 1.3, Margin: 3);
            yield return new Figure(
                $"lease of 4 MB, {threads} threads: share of its processor time", "1 thread",
                effort.ShareOfTeam(threads, Loops.Lease(allocator, Length)), Limit: 1.3, Margin: 3);
        }
    }

    public static IEnumerable<Figure> OfFour(Effort effort)
    {
        using MemoryAllocator allocator = MemoryAllocator.Create();
        ArrayPool<byte> arrays = ArrayPool<byte>.Shared;
        double[] four = effort.Shares(count => RentFourArrays(arrays, count), count => RentFourLeases(allocator, count));
        yield return new Figure(
            "lease of 4 MB, four held: share of its time", "ArrayPool<byte>.Shared", four[1], Limit: 1, Margin: 2);
    }

    public static IEnumerable<Figure> OfBudget(Effort effort)
    {
        using MemoryAllocator free = MemoryAllocator.Create();
        using MemoryAllocator allocator = MemoryAllocator.Create(new MemoryAllocatorOptions { MemoryBudgetMegabytes = 1024 });
        allocator.TryReserve(64 << 20, out MemoryReservation? reservation);
        using (reservation)
        {
            foreach (int length in (int[])[Length, 64 << 10])
            {
                string size = length < 1 << 20 ? $"{length >> 10} KB" : $"{length >> 20} MB";
                double[] owners = effort.Shares(
                    Loops.Owner(free, length), Loops.Owner(allocator, length), Loops.Owner(reservation!, length));
                double[] leases = effort.Shares(
                    Loops.Lease(free, length), Loops.Lease(allocator, length), Loops.Lease(reservation!, length));
                yield return new Figure(
                    $"owner of {size}, budget not reached: share", "without a budget", owners[1], Limit: 1.3, Margin: 5);
                yield return new Figure(
                    $"lease of {size}, budget not reached: share", "without a budget", leases[1], Limit: 1.3, Margin: 5);
                yield return new Figure($"owner of {size}, in a reservation: share", "without a budget", owners[2], Limit: 2, Margin: 5);
                yield return new Figure($"lease of {size}, in a reservation: share", "without a budget", leases[2], Limit: 2, Margin: 5);
            }
        }
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
