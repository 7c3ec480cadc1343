using Allocator.Budgeting;
using Allocator.Lifetime;

namespace Allocator.Tests.Lifetime;

/// <summary>Small buffers under a budget. Arrays go up to 1 KiB, blocks have 16.</summary>
public class CountedArrayPoolTests
{
    private const int Block = TestSetup.BlockSize;
    private const int Array = TestSetup.ArrayThreshold;

    // ArrayPool.Shared kept an array of every length for every thread, which no budget counted and no trim reached.
    [Fact]
    public void Allocate_SixtyFourThreadsUnderABudget_LeavesAnEighthOfItAtMostAndNothingAfterATrim() => RemoteExecutor.Invoke(static () =>
    {
        const int Threads = 64;
        const long Megabyte = 1024 * 1024;
        using MemoryAllocator allocator = MemoryAllocator.Create(
            new MemoryAllocatorOptions { MemoryBudgetMegabytes = 64, BudgetTimeout = Timeout.InfiniteTimeSpan });
        long before = GC.GetTotalMemory(forceFullCollection: true);
        using Barrier done = new(Threads + 1);
        Thread[] threads = [.. Enumerable.Range(0, Threads).Select(seed => new Thread(() =>
        {
            Random random = new(seed);
            for (int i = 0; i < 40; i++)
            {
                using IMemoryOwner<byte> owner = allocator.Allocate<byte>(random.Next(40_000, (int)Megabyte));
                owner.Memory.Span[0] = 1;
            }

            // Threads that end would give up what they keep.
            done.SignalAndWait();
            done.SignalAndWait();
        }))];
        System.Array.ForEach(threads, static thread => thread.Start());
        done.SignalAndWait();
        long left = GC.GetTotalMemory(forceFullCollection: true) - before;
        long retained = allocator.GetStatistics().RetainedBytes;
        allocator.ReleaseRetainedResources();
        long retainedAfterwards = allocator.GetStatistics().RetainedBytes;
        done.SignalAndWait();
        System.Array.ForEach(threads, static thread => thread.Join());

        // Without the threads.
        long afterwards = GC.GetTotalMemory(forceFullCollection: true) - before;
        Assert.True(left <= 16 * Megabyte, $"{left:N0} bytes are left of the arrays.");
        Assert.InRange(retained, 1, 8 * Megabyte);

        // Stacks of threads may still reference some of the arrays. If each thread kept one, that would be 32 MB.
        Assert.InRange(left - retained, -Megabyte, 8 * Megabyte);
        Assert.Equal(0, retainedAfterwards);
        Assert.True(afterwards <= 4 * Megabyte, $"{afterwards:N0} bytes are left after ReleaseRetainedResources.");
        Assert.Equal(0, allocator.GetStatistics().CommittedBytes);
    }).Dispose();

    [Theory]
    [InlineData(1, 16)]
    [InlineData(16, 16)]
    [InlineData(17, 32)]
    [InlineData(1000, 1024)]
    [InlineData(1024, 1024)]
    public void Allocate_SmallBuffer_TakesAnArrayOfExactlyThePowerOfTwo(int length, int capacity)
    {
        using TestSetup setup = new(budget: 8 * Block);
        using IMemoryOwner<byte> owner = setup.Allocator.Allocate<byte>(length);
        Assert.Equal(
            (capacity, (long)capacity, (long)capacity),
            (ArrayOf(owner).Length, setup.Statistics.RentedBytes, setup.Statistics.BudgetUsedBytes));
    }

    [Fact]
    public void Dispose_OfASmallBuffer_KeepsItsArrayForTheNextOfThatLength()
    {
        using TestSetup setup = new(budget: 8 * Block);
        IMemoryOwner<byte> first = setup.Allocator.Allocate<byte>(1000);
        byte[] array = ArrayOf(first);
        Assert.Equal(0, setup.Statistics.RetainedBytes);
        first.Dispose();
        Assert.Equal((1024L, 0L, 0L), (setup.Statistics.RetainedBytes, setup.Statistics.CommittedBytes, setup.Statistics.BudgetUsedBytes));
        using IMemoryOwner<byte> shorter = setup.Allocator.Allocate<byte>(500);
        using IMemoryOwner<byte> next = setup.Allocator.Allocate<byte>(700);
        Assert.NotSame(array, ArrayOf(shorter));
        Assert.Same(array, ArrayOf(next));
        Assert.Equal(0, setup.Statistics.RetainedBytes);
        Assert.Throws<ObjectDisposedException>(() => first.Memory.Span.Length);
    }

    // An idle array is rented without a plan.
    [Theory]
    [InlineData(AllocationOptions.None, 7)]
    [InlineData(AllocationOptions.Clean, 0)]
    public void Rent_IdleArray_IsCountedLikeAnyOther(AllocationOptions options, byte found)
    {
        using TestSetup setup = new(budget: 8 * Block);
        using (MemoryLease<byte> first = setup.Allocator.Rent<byte>(1000))
        {
            first.Span.Fill(7);
        }

        using (MemoryLease<byte> next = setup.Allocator.Rent<byte>(700, options))
        {
            MemoryAllocatorStatistics rented = setup.Statistics;
            Assert.Equal(found, next.Span[699]);
            Assert.Equal((2L, 1L, 1024L), (rented.Rents, rented.OutstandingAllocations, rented.RentedBytes));
            Assert.Equal((1024L, 0L), (rented.BudgetUsedBytes, rented.RetainedBytes));
        }

        MemoryAllocatorStatistics returned = setup.Statistics;
        Assert.Equal((0L, 0L, 1024L), (returned.OutstandingAllocations, returned.BudgetUsedBytes, returned.RetainedBytes));
    }

    [Fact]
    public async Task Rent_IdleArrayOfTheBudget_IsChargedToTheReservationThatRentsIt()
    {
        using TestSetup setup = new(budget: 8 * Block);
        AllocateAndReturn(setup, 1000, 1);
        using MemoryReservation reservation = await setup.Allocator.ReserveAsync(Block);
        using (MemoryLease<byte> lease = reservation.Rent<byte>(1000))
        {
            Assert.Equal((Block - 1024L, (long)Block), (reservation.RemainingBytes, setup.Statistics.BudgetUsedBytes));
        }

        Assert.Equal((Block, 1024L), (reservation.RemainingBytes, setup.Statistics.RetainedBytes));
    }

    [Fact]
    public async Task AllocateAsync_IdleArrayAndNoRoom_WaitsInLineAndKeepsTheArray()
    {
        using TestSetup setup = new(budget: 8 * Block);
        AllocateAndReturn(setup, 1000, 1);
        MemoryReservation all = await setup.Allocator.ReserveAsync(8 * Block);
        ValueTask<IMemoryOwner<byte>> waiting = setup.Allocator.AllocateAsync<byte>(1000);
        Assert.False(waiting.IsCompleted);
        all.Dispose();
        using (IMemoryOwner<byte> owner = await waiting)
        {
            Assert.Equal((1024L, 1L), (setup.Statistics.BudgetUsedBytes, setup.Statistics.BudgetWaits));
        }

        MemoryAllocatorStatistics returned = setup.Statistics;
        Assert.Equal((0L, 0L, 1024L), (returned.BudgetUsedBytes, returned.RentedBytes, returned.RetainedBytes));
    }

    [Fact]
    public void Dispose_ManyArrays_KeepsOnePerCoreAndAnEighthOfTheBudget()
    {
        using TestSetup wide = new(budget: 800 * Block);
        AllocateAndReturn(wide, 1000, 3 * Environment.ProcessorCount);
        Assert.Equal(Environment.ProcessorCount * Array, wide.Statistics.RetainedBytes);

        using TestSetup narrow = new(budget: 2 * Block);
        foreach (int length in new[] { 100, 200, 500, 1000 })
        {
            AllocateAndReturn(narrow, length, 12);
        }

        Assert.InRange(narrow.Statistics.RetainedBytes, 1, 2 * Block / 8);
    }

    [Fact]
    public void Allocate_BudgetIsIdleInArrays_ArraysAreDroppedBeforeAnyRequestWaits()
    {
        using TestSetup setup = new(budget: 4 * Block);
        AllocateAndReturn(setup, 1000, 8);
        Assert.InRange(setup.Statistics.RetainedBytes, Array, 8 * Array);
        using IMemoryOwner<byte> all = setup.Allocator.Allocate<byte>(4 * Block);
        Assert.Equal(
            (0L, 4L * Block, 0L), (setup.Statistics.RetainedBytes, setup.Statistics.CommittedBytes, setup.Statistics.BudgetWaits));
        Assert.Empty(setup.Clock.Delays);
        Assert.InRange(setup.Statistics.TrimmedBytes, Array, 8 * Array);
    }

    [Fact]
    public void Allocate_SystemRefusesMemory_DropsIdleArrays()
    {
        using TestSetup setup = new(budget: 8 * Block);
        AllocateAndReturn(setup, 1000, 1);
        setup.Source.RefuseFrom = 1;
        Assert.Throws<OutOfMemoryException>(() => setup.Allocator.Allocate<byte>(Block));
        Assert.Equal(0, setup.Statistics.RetainedBytes);
    }

    [Fact]
    public void Tick_LowLoad_DropsHalfOfWhatStayedIdleThroughThePeriod()
    {
        using TestSetup setup = new(budget: 800 * Block);
        AllocateAndReturn(setup, 1000, 1);
        AllocateAndReturn(setup, 100, 1);
        IMemoryOwner<byte> held = setup.Allocator.Allocate<byte>(500);
        Assert.Equal(1, setup.Clock.RunningTimers);
        setup.Clock.Advance(TimeSpan.FromMinutes(1));
        Assert.Equal(1024 + 128, setup.Statistics.RetainedBytes);

        // The larger one is more than half of the two.
        setup.Clock.Advance(TimeSpan.FromMinutes(1));
        Assert.Equal(128, setup.Statistics.RetainedBytes);

        // In use through the period, and so not idle.
        AllocateAndReturn(setup, 100, 1);
        setup.Clock.Advance(TimeSpan.FromMinutes(1));
        Assert.Equal(128, setup.Statistics.RetainedBytes);
        held.Dispose();
        setup.Clock.Advance(TimeSpan.FromMinutes(5));
        Assert.Equal((0L, 0), (setup.Statistics.RetainedBytes, setup.Clock.RunningTimers));
    }

    // Held arrays that once lay idle took the room of what may lie idle.
    [Fact]
    public void Dispose_WhileFormerlyIdleArraysAreHeld_KeepsOthers()
    {
        using TestSetup setup = new(budget: Block / 2 + 8);
        AllocateAndReturn(setup, 1000, 1);
        using IMemoryOwner<byte> held = setup.Allocator.Allocate<byte>(1000);
        AllocateAndReturn(setup, 1000, 1);
        Assert.Equal((1024L, 1024L, 3L), (setup.Statistics.RetainedBytes, setup.Statistics.RentedBytes, setup.Statistics.Rents));
    }

    [Fact]
    public void Tick_HighLoad_DropsAll()
    {
        using TestSetup setup = new(budget: 800 * Block);
        AllocateAndReturn(setup, 1000, 2);
        setup.Pressure.IsHigh = true;
        setup.Clock.Advance(TimeSpan.FromMinutes(1));
        Assert.Equal((0L, 0), (setup.Statistics.RetainedBytes, setup.Clock.RunningTimers));
    }

    [Fact]
    public void Dispose_OfTheAllocator_DropsIdleArraysAndLaterReturns()
    {
        using TestSetup setup = new(budget: 8 * Block);
        AllocateAndReturn(setup, 500, 1);
        IMemoryOwner<byte> held = setup.Allocator.Allocate<byte>(1000);
        setup.Allocator.Dispose();
        Assert.Equal(0, setup.Statistics.RetainedBytes);
        held.Memory.Span.Fill(1);
        held.Dispose();
        Assert.Equal((0L, 0L, 0L), (setup.Statistics.RetainedBytes, setup.Statistics.RentedBytes, setup.Statistics.BudgetUsedBytes));
    }

    [Fact]
    public void ClearOnReturn_SmallBuffer_NextRenterSeesZeros()
    {
        using TestSetup setup = new(options: new MemoryAllocatorOptions { ClearOnReturn = true }, budget: 8 * Block);
        IMemoryOwner<byte> first = setup.Allocator.Allocate<byte>(1024);
        first.Memory.Span.Fill(7);
        first.Dispose();
        using IMemoryOwner<byte> next = setup.Allocator.Allocate<byte>(1024);
        Assert.Equal(-1, next.Memory.Span.IndexOfAnyExcept((byte)0));
    }

    [Fact]
    public async Task Allocate_FromAReservationWithoutABudget_KeepsArraysToo()
    {
        using TestSetup setup = new();
        using MemoryReservation reservation = await setup.Allocator.ReserveAsync(Block);
        reservation.Allocate<byte>(1000).Dispose();
        Assert.Equal((1024L, (long)Block), (setup.Statistics.RetainedBytes, reservation.RemainingBytes));
        setup.Allocator.ReleaseRetainedResources();
        Assert.Equal(0, setup.Statistics.RetainedBytes);
    }

    [Fact]
    public void Trim_OfAMebibyte_AsksForACollection()
    {
        using TestSetup setup = new();
        int collections = 0;
        AllocatorContext policy = new(new AllocatorCounters(), setup.Clock, setup.Scheduler.Quarantine, new MemoryBudget(3 << 20));
        CountedArrayPool pool = new(policy, 2 << 20, () => collections++);
        Refusals refusals = default;
        foreach (int length in new[] { 1 << 19, 1 << 20 })
        {
            pool.Return(pool.TryRent(length, ref refusals, out bool isNew)!, mayKeep: true);
            Assert.True(isNew);
        }

        Assert.Equal((3L << 19, 3L << 19), (pool.IdleBytes, pool.HeldBytes));
        CountedArrayGuard guard = pool.TryRent(1 << 20, ref refusals, out bool isAnother)!;
        Assert.Equal((false, 1L << 19, 3L << 19), (isAnother, pool.IdleBytes, pool.HeldBytes));

        // Within the budget there is room for one more, and not for two.
        Assert.NotNull(pool.TryRent(1 << 20, ref refusals, out _));
        Assert.Null(pool.TryRent(1 << 20, ref refusals, out _));
        Assert.Equal((1L << 19, 0), (pool.Release(1), collections));
        pool.Return(guard, mayKeep: true);
        Assert.Equal((1L << 20, 1), (pool.Release(1), collections));
    }

    private static byte[] ArrayOf(IMemoryOwner<byte> owner)
    {
        Assert.True(MemoryMarshal.TryGetArray<byte>(owner.Memory, out ArraySegment<byte> segment));
        return segment.Array!;
    }

    private static void AllocateAndReturn(TestSetup setup, int length, int count)
    {
        List<IMemoryOwner<byte>> owners = [.. Enumerable.Range(0, count).Select(_ => setup.Allocator.Allocate<byte>(length))];
        owners.ForEach(static owner => owner.Dispose());
    }
}
