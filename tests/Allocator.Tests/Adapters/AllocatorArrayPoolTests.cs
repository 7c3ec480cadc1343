using Allocator.Tests.Families;

namespace Allocator.Tests.Adapters;

public class AllocatorArrayPoolTests
{
    // What the documentation of ArrayPool says, as calls of which the outcome is compared with that of the shared pool.
    private static readonly Dictionary<string, Func<ArrayPool<byte>, object?>> s_demands = new()
    {
        ["Rent, 0"] = static p => p.Rent(0).Length,
        ["Rent, 0, is the same"] = static p => ReferenceEquals(p.Rent(0), p.Rent(0)),
        ["Rent, -1"] = static p => p.Rent(-1),
        ["Rent, least"] = static p => p.Rent(int.MinValue),
        ["Rent, any length"] = static p => Enumerable.Range(1, 300).All(i => Use(p, i * i, array => array.Length >= i * i)),
        ["Rent, powers of two exactly"] = static p => Enumerable.Range(4, 20).All(i => Use(p, 1 << i, array => array.Length == 1 << i)),
        ["Rent, is not null at any size"] = static p => Use(p, 1, static array => array is not null),
        ["Rent, different arrays"] = static p => Use(p, 100, one => Use(p, 100, other => !ReferenceEquals(one, other))),
        ["Return, null"] = static p => Call(() => p.Return(null!)),
        ["Return, null and clear"] = static p => Call(() => p.Return(null!, clearArray: true)),
        ["Return, empty"] = static p => Call(() => p.Return([])),
        ["Return, an empty one of its own"] = static p => Call(() => p.Return(p.Rent(0), clearArray: true)),
        ["Return, an array of no length that it has"] = static p => Call(() => p.Return(new byte[777])),
        ["Return, cleared"] = static p =>
        {
            byte[] array = p.Rent(5000);
            array.AsSpan().Fill(1);
            p.Return(array, clearArray: true);
            return array.AsSpan().IndexOfAnyExcept((byte)0) < 0;
        },
        ["Return, then rent"] = static p =>
        {
            byte[] array = p.Rent(5000);
            p.Return(array);
            return Use(p, 5000, again => ReferenceEquals(array, again));
        },
        ["Many threads"] = static p => Parallel.For(0, 5000, i => Use(p, i, array => Filled(array, (byte)i))).IsCompleted,
    };

    public static TheoryData<string> Demands => [.. s_demands.Keys];

    [Theory]
    [MemberData(nameof(Demands))]
    public void EachRequirement_ComparedWithTheSharedPool_IsMet(string demand)
    {
        foreach (SafetyMode safety in (SafetyMode[])[SafetyMode.Standard, SafetyMode.Guarded])
        {
            foreach (int? budget in (int?[])[null, 256])
            {
                using MemoryAllocator allocator = MemoryAllocator.Create(
                    new MemoryAllocatorOptions { MemoryBudgetMegabytes = budget, Safety = safety });
                ArrayPool<byte> ours = allocator.AsArrayPool();
                Assert.Equal(Outcome.Of(() => s_demands[demand](ArrayPool<byte>.Shared)), Outcome.Of(() => s_demands[demand](ours)));
                MemoryAllocatorStatistics now = allocator.GetStatistics();
                Assert.Equal((0L, 0L, 0L), (now.OutstandingAllocations, now.RentedBytes, now.BudgetUsedBytes));
            }
        }
    }

    [Theory]
    [InlineData(1, 16)]
    [InlineData(1000, 1024)]
    [InlineData(TestSetup.BlockSize, TestSetup.BlockSize)]
    [InlineData(5_000_000, 8 * 1024 * 1024)]
    public void Rent_AnySize_IsCountedByItsLengthAndKeptForTheNext(int length, int capacity)
    {
        using TestSetup setup = new(budget: 1 << 30);
        ArrayPool<byte> pool = setup.Allocator.AsArrayPool();
        byte[] array = pool.Rent(length);
        MemoryAllocatorStatistics now = setup.Statistics;
        Assert.Equal((capacity, 1L, capacity, capacity), (array.Length, now.OutstandingAllocations, now.RentedBytes, now.BudgetUsedBytes));
        pool.Return(array);
        now = setup.Statistics;
        Assert.Equal((0L, 0L, 0L, capacity), (now.OutstandingAllocations, now.RentedBytes, now.BudgetUsedBytes, now.RetainedBytes));
        Assert.Same(array, pool.Rent(length));
        pool.Return(array);
        setup.Allocator.ReleaseRetainedResources();
        Assert.Equal((0L, 0L), (setup.Statistics.RetainedBytes, setup.Statistics.PoolMisses));
        byte[] other = pool.Rent(length);
        Assert.NotSame(array, other);
        pool.Return(other);
    }

    [Fact]
    public void Rent_BeyondTheBudgetOrTheLimit_IsRefusedLikeAnyRequest()
    {
        using TestSetup setup = new(budget: 3 * TestSetup.BlockSize);
        ArrayPool<byte> pool = setup.Allocator.AsArrayPool();
        byte[] array = pool.Rent(2 * TestSetup.BlockSize);
        Assert.True(Assert.Throws<MemoryLimitExceededException>(() => pool.Rent(2 * TestSetup.BlockSize)).IsTransient);
        Assert.False(Assert.Throws<MemoryLimitExceededException>(() => pool.Rent(4 * TestSetup.BlockSize)).IsTransient);

        // Idle blocks make room for arrays, and the other way round.
        setup.Allocator.Allocate<byte>(TestSetup.BlockSize).Dispose();
        pool.Return(array);
        setup.Allocator.Allocate<byte>(3 * TestSetup.BlockSize).Dispose();
        pool.Return(pool.Rent(2 * TestSetup.BlockSize));
        using MemoryAllocator limited = MemoryAllocator.Create(new MemoryAllocatorOptions { AllocationLimitMegabytes = 1 });
        Assert.Throws<MemoryLimitExceededException>(() => limited.AsArrayPool().Rent((1 << 20) + 1));
        limited.AsArrayPool().Return(limited.AsArrayPool().Rent(1 << 20));
        ArgumentOutOfRangeException e = Assert.Throws<ArgumentOutOfRangeException>(
            "minimumLength", () => limited.AsArrayPool().Rent(int.MaxValue));
        Assert.Contains("1073741824", e.Message);
    }

    [Fact]
    public async Task Rent_FromAReservation_DrawsOnIt()
    {
        using TestSetup setup = new(budget: 1 << 20);
        MemoryReservation reservation = await setup.Allocator.ReserveAsync(100_000);
        byte[] array = reservation.AsArrayPool().Rent(40_000);
        Assert.Equal((100_000 - 65_536, 65_536L), (reservation.RemainingBytes, reservation.PeakUsedBytes));

        // To the parent's, and after the reservation's end.
        reservation.Dispose();
        Assert.Throws<ObjectDisposedException>(() => reservation.AsArrayPool());
        setup.Allocator.AsArrayPool().Return(array);
        Assert.Equal(0, setup.Statistics.BudgetUsedBytes);
    }

    [Fact]
    public void Return_ForeignArrayOrTwice_IsRefusedAndChangesNothing()
    {
        using TestSetup setup = new(budget: 1 << 20);
        using TestSetup other = new();
        ArrayPool<byte> pool = setup.Allocator.AsArrayPool();
        byte[] ours = pool.Rent(100);
        byte[] others = other.Allocator.AsArrayPool().Rent(100);
        byte[] foreign = new byte[128];
        using IMemoryOwner<byte> owner = setup.Allocator.Allocate<byte>(128);
        System.Runtime.InteropServices.MemoryMarshal.TryGetArray(owner.Memory, out ArraySegment<byte> owned);
        others[0] = foreign[0] = owned.AsSpan()[0] = 1;
        pool.Return(ours);
        ours[0] = 1;
        foreach (byte[] wrong in (byte[][])[ours, others, foreign, owned.Array!])
        {
            Assert.Contains("128", Assert.Throws<ArgumentException>("array", () => pool.Return(wrong, clearArray: true)).Message);
            Assert.Equal(1, wrong[0]);
        }

        Assert.Equal((1L, 1L), (setup.Statistics.OutstandingAllocations, other.Statistics.OutstandingAllocations));
        other.Allocator.AsArrayPool().Return(others);
    }

    [Fact]
    public void Return_FromManyThreadsAtOnce_EndsTheRentOnce()
    {
        using TestSetup setup = new(budget: 1 << 20);
        ArrayPool<byte> pool = setup.Allocator.AsArrayPool();
        for (int i = 0; i < 200; i++)
        {
            byte[] array = pool.Rent(1000);
            int refused = 0;
            using Barrier barrier = new(8);
            TestThreads.Run(8, _ =>
            {
                barrier.SignalAndWait();
                try
                {
                    pool.Return(array);
                }
                catch (ArgumentException)
                {
                    Interlocked.Increment(ref refused);
                }
            });
            Assert.Equal((7, 0L), (refused, setup.Statistics.OutstandingAllocations));
        }
    }

    [Fact]
    public void Return_AfterTheAllocatorsDispose_LeavesNothing()
    {
        TestSetup setup = new(budget: 1 << 20);
        ArrayPool<byte> pool = setup.Allocator.AsArrayPool();
        byte[] array = pool.Rent(1000);
        setup.Dispose();
        Assert.Throws<ObjectDisposedException>(() => pool.Rent(10));
        Assert.Throws<ObjectDisposedException>(() => setup.Allocator.AsArrayPool());
        array.AsSpan().Clear();
        pool.Return(array);
        Assert.Throws<ArgumentException>(() => pool.Return(array));
        MemoryAllocatorStatistics now = setup.Statistics;
        Assert.Equal((0L, 0L, 0L), (now.OutstandingAllocations, now.RetainedBytes, now.BudgetUsedBytes));
    }

    [Fact]
    public void Return_ClearOnReturn_ClearsTheWholeArray()
    {
        using TestSetup setup = new(options: new MemoryAllocatorOptions { ClearOnReturn = true });
        ArrayPool<byte> pool = setup.Allocator.AsArrayPool();
        byte[] array = pool.Rent(1000);
        array.AsSpan().Fill(9);
        pool.Return(array);
        Assert.Equal(-1, array.AsSpan().IndexOfAnyExcept((byte)0));
    }

    // The table from arrays to guards must not keep what is dropped.
    [Fact]
    public void Rent_ArrayDropped_IsCollectedAndLeavesTheBudget() => RemoteExecutor.Invoke(static () =>
    {
        using MemoryAllocator allocator = MemoryAllocator.Create(new MemoryAllocatorOptions { MemoryBudgetMegabytes = 64 });
        WeakReference array = Drop(allocator);
        bool isGone = false;
        for (int i = 0; i < 20 && !isGone; i++)
        {
            QueuedWork.Collect();
            isGone = SpinWait.SpinUntil(
                () => allocator.GetStatistics() is { BudgetUsedBytes: 0, OutstandingAllocations: 0, Abandoned: 1 }, 500);
        }

        Assert.True(isGone, allocator.GetStatistics().ToString());
        GC.Collect();
        Assert.False(array.IsAlive);

        [MethodImpl(MethodImplOptions.NoInlining)]
        static WeakReference Drop(MemoryAllocator allocator)
        {
            WeakReference array = new(allocator.AsArrayPool().Rent(100_000));
            Assert.Equal(131_072, allocator.GetStatistics().BudgetUsedBytes);
            return array;
        }
    }).Dispose();

    // And not what is held.
    [Fact]
    public void Rent_ArrayHeldThroughCollections_StaysRented() => RemoteExecutor.Invoke(static () =>
    {
        using MemoryAllocator allocator = MemoryAllocator.Create(new MemoryAllocatorOptions { MemoryBudgetMegabytes = 64 });
        byte[] array = allocator.AsArrayPool().Rent(100_000);
        for (int i = 0; i < 5; i++)
        {
            QueuedWork.Collect();
        }

        Assert.Equal((1L, 0L), (allocator.GetStatistics().OutstandingAllocations, allocator.GetStatistics().Abandoned));
        allocator.AsArrayPool().Return(array);
        Assert.Equal(0, allocator.GetStatistics().BudgetUsedBytes);
    }).Dispose();

    [Fact]
    public void RentAndReturn_FiveHundredThreadsUnderABudget_LoseNothing()
    {
        using TestSetup setup = new(
            options: new MemoryAllocatorOptions { BudgetTimeout = Timeout.InfiniteTimeSpan }, budget: 4 << 20);
        ArrayPool<byte> pool = setup.Allocator.AsArrayPool();
        TestThreads.Run(500, seed =>
        {
            Random random = new(seed);
            for (int i = 0; i < 20; i++)
            {
                byte[] array = pool.Rent(random.Next(1, 64 * 1024));
                Assert.True(Filled(array, (byte)seed), "Two renters have one array.");
                pool.Return(array, clearArray: random.Next(4) == 0);
            }
        });
        MemoryAllocatorStatistics now = setup.Statistics;
        Assert.Equal((0L, 0L, 10_000L), (now.OutstandingAllocations, now.BudgetUsedBytes, now.Rents));
        Assert.InRange(now.RetainedBytes, 0, (4 << 20) / 8);
    }

    private static bool Use(ArrayPool<byte> pool, int length, Func<byte[], bool> use)
    {
        byte[] array = pool.Rent(length);
        bool result = use(array);
        pool.Return(array);
        return result;
    }

    private static bool Filled(byte[] array, byte value)
    {
        array.AsSpan().Fill(value);
        return array.AsSpan().IndexOfAnyExcept(value) < 0;
    }

    private static object? Call(Action action)
    {
        action();
        return null;
    }
}
