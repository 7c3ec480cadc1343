using System.Collections.Concurrent;
using Allocator.Budgeting;

namespace Allocator.Tests.Budgeting;

/// <summary>Memory is charged to the budget from the beginning of its rent to the end; idle memory is not.</summary>
public class ChargeTests
{
    private const int Block = TestSetup.BlockSize;

    // All of the budget of eight blocks, in one way or another.
    private static readonly Dictionary<string, Func<MemoryAllocator, Task<IDisposable>>> s_takesAll = new()
    {
        ["Allocate"] = static a => Task.FromResult<IDisposable>(a.Allocate<byte>(8 * Block)),
        ["AllocateAsync"] = static async a => await a.AllocateAsync<byte>(8 * Block),
        ["AllocateGroup"] = static a => Task.FromResult<IDisposable>(a.AllocateGroup<byte>(8 * Block)),
        ["TryReserve"] = static a => Task.FromResult<IDisposable>(Reserve(a, 8 * Block)),
        ["ReserveAsync"] = static async a => await a.ReserveAsync(8 * Block),
        ["TryGrow"] = static a =>
        {
            MemoryReservation reservation = Reserve(a, Block);
            Assert.True(reservation.TryGrow(7 * Block));
            return Task.FromResult<IDisposable>(reservation);
        },
        ["GrowAsync"] = static async a =>
        {
            MemoryReservation reservation = Reserve(a, Block);
            await reservation.GrowAsync(7 * Block);
            return reservation;
        },
        ["TrackExternalMemory"] = static a => Task.FromResult(a.TrackExternalMemory(8 * Block)),
    };

    public static TheoryData<string> Kinds => [.. s_takesAll.Keys];

    [Theory]
    [InlineData(1)]
    [InlineData(4)]
    public void Rent_IdleBlocks_AreChargedUntilTheyAreReturned(int blocks)
    {
        using TestSetup setup = new(budget: 8 * Block);
        for (int i = 0; i < 3; i++)
        {
            using IMemoryOwner<byte> owner = setup.Allocator.Allocate<byte>(blocks * Block);
            Assert.Equal(blocks * Block, setup.Statistics.BudgetUsedBytes);
        }

        Assert.Equal((0L, (long)blocks * Block), (setup.Statistics.BudgetUsedBytes, setup.Statistics.CommittedBytes));
    }

    // 64 threads that rent, hold and return memory of many sizes under a budget that all of them together exceed.
    [Fact]
    public void CommittedBytes_SixtyFourThreads_NeverExceedsTheBudget() => RemoteExecutor.Invoke(static () =>
    {
        const int Threads = 64;
        const long Budget = 64L << 20;
        using MemoryAllocator allocator = MemoryAllocator.Create(
            new MemoryAllocatorOptions { MemoryBudgetMegabytes = (int)(Budget >> 20), BudgetTimeout = Timeout.InfiniteTimeSpan });
        MemoryBudget budget = allocator.Account!.Budget!;
        int running = Threads;
        ConcurrentQueue<Exception> failures = [];
        Thread[] threads = [.. Enumerable.Range(0, Threads).Select(seed => new Thread(() => Rent(seed), maxStackSize: 256 * 1024))];
        Array.ForEach(threads, static thread => thread.Start());
        long most = 0;
        while (Volatile.Read(ref running) > 0)
        {
            most = Math.Max(most, budget.CommittedBytes);
            Thread.Yield();
        }

        Array.ForEach(threads, static thread => thread.Join());
        Assert.Empty(failures);
        Assert.InRange(most, 1, Budget);
        Assert.Equal(0, budget.AdmittedBytes);

        void Rent(int seed)
        {
            Random random = new(seed);
            try
            {
                for (int i = 0; i < 100; i++)
                {
                    using IMemoryOwner<byte> owner = allocator.Allocate<byte>(1 << random.Next(12, 25));
                    owner.Memory.Span[0] = 1;
                    Thread.Yield();
                }
            }
            catch (Exception exception)
            {
                failures.Enqueue(exception);
            }
            finally
            {
                Interlocked.Decrement(ref running);
            }
        }
    }).Dispose();

    [Theory]
    [MemberData(nameof(Kinds))]
    public async Task Request_OnlyIdleBlocksAreInTheWay_IsServedWithoutAWait(string kind)
    {
        using TestSetup setup = new(budget: 8 * Block);
        RentAndReturn(setup, blocks: 4);
        using IDisposable served = await s_takesAll[kind](setup.Allocator);
        Assert.Equal((8L * Block, 0L), (setup.Statistics.BudgetUsedBytes, setup.Statistics.BudgetWaits));
    }

    [Theory]
    [InlineData(SafetyMode.Sampled, false)]
    [InlineData(SafetyMode.Guarded, false)]
    [InlineData(SafetyMode.Standard, true)]
    public void Return_MemoryIsWatchedOrCleared_ReturnsAllPermitsInTheEnd(SafetyMode safety, bool clears)
    {
        using TestSetup setup = new(
            options: new MemoryAllocatorOptions { Safety = safety, ClearOnReturn = clears, SafetySampleInterval = 2 }, budget: 8 * Block);
        for (int i = 0; i < 10; i++)
        {
            RentAndReturn(setup, blocks: 2);
            Assert.Equal(0, setup.Statistics.BudgetUsedBytes);
        }

        setup.Allocator.ReleaseRetainedResources();
        Assert.Equal(0, setup.Statistics.BudgetUsedBytes);
    }

    // A run that is longer than the pool, so that idle blocks are in its way and of no use to it.
    [Fact]
    public void Allocate_ContainerLimitLoweredWithIdleBlocks_ReleasesThemAndChargesOnce()
    {
        using TestSetup setup = new(maximumBlocks: 4, budget: 8 * Block);
        RentAndReturn(setup, blocks: 4);
        Lower(setup, 5 * Block);

        RentAndReturn(setup, blocks: 4);
        Assert.Equal(0, setup.Statistics.BudgetUsedBytes);

        using (setup.Allocator.Allocate<byte>(5 * Block))
        {
            Assert.Equal((5L * Block, 5L * Block), (setup.Statistics.BudgetUsedBytes, setup.Statistics.CommittedBytes));
        }

        RentAndReturn(setup, blocks: 4);
        Assert.Throws<MemoryLimitExceededException>(() => setup.Allocator.Allocate<byte>(6 * Block));
        Assert.Equal(0, setup.Statistics.BudgetUsedBytes);
        RentAndReturn(setup, blocks: 4);
        Assert.Equal(0, setup.Statistics.BudgetUsedBytes);
    }

    // Groups drain the cache whenever the maps have too little.
    [Fact]
    public void AllocateGroup_FiveHundredThreadsBesideLeases_AllAreServedAndNothingIsLeft() => RemoteExecutor.Invoke(static () =>
    {
        const int RealBlock = 4 << 20;
        const int Threads = 500;
        const int Requests = 10;
        using MemoryAllocator allocator = MemoryAllocator.Create(
            new MemoryAllocatorOptions { MemoryBudgetMegabytes = 64, BudgetTimeout = Timeout.InfiniteTimeSpan });
        ConcurrentQueue<Exception> failures = [];
        Thread[] threads =
        [
            .. Enumerable.Range(0, Threads).Select(index => new Thread(() => RentBoth(allocator, index), maxStackSize: 256 * 1024)),
        ];
        Array.ForEach(threads, static thread => thread.Start());
        Assert.All(threads, static thread => Assert.True(thread.Join(TimeSpan.FromSeconds(100)), "A thread waits for ever."));

        Assert.Empty(failures);
        MemoryAllocatorStatistics now = allocator.GetStatistics();
        Assert.Equal((0L, 0L, 2L * Threads * Requests), (now.BudgetUsedBytes, now.OutstandingAllocations, now.Rents));
        allocator.ReleaseRetainedResources();
        Assert.Equal((0L, 0L), (allocator.Account!.Budget!.AdmittedBytes, allocator.GetStatistics().CommittedBytes));

        void RentBoth(MemoryAllocator allocator, int index)
        {
            try
            {
                for (int i = 0; i < Requests; i++)
                {
                    using (MemoryGroup<byte> group = allocator.AllocateGroup<byte>((1 + ((index + i) % 4)) * (long)RealBlock))
                    {
                        group[0].Span[0] = (byte)index;
                        Thread.Yield();
                        Assert.Equal((byte)index, group[0].Span[0]);
                    }

                    using MemoryLease<byte> lease = allocator.Rent<byte>(3 << 20);
                    lease.Span[0] = (byte)index;
                }
            }
            catch (Exception exception)
            {
                failures.Enqueue(exception);
            }
        }
    }).Dispose();

    [Fact]
    public async Task TryGrow_WhileAYoungerReservationWaitsToGrow_LeavesItWaiting()
    {
        using TestSetup setup = new(budget: 8 * Block);
        Assert.True(setup.Allocator.TryReserve(4 * Block, out MemoryReservation? older));
        Assert.True(setup.Allocator.TryReserve(4 * Block, out MemoryReservation? younger));
        Task growth = younger!.GrowAsync(2 * Block).AsTask();
        Assert.False(older!.TryGrow(Block));
        Assert.False(growth.IsCompleted);
        older.Dispose();
        await growth.WaitAsync(TimeSpan.FromSeconds(30));
        younger.Dispose();
    }

    // What its allocator has committed is used of so many bytes.
    private static void Lower(TestSetup setup, long bytes)
    {
        setup.Left.OnRead = () =>
        {
            long left = Math.Max(0, bytes - setup.Statistics.CommittedBytes);
            return new Headroom(100 * Block, left, left);
        };
        setup.Clock.Advance(TimeSpan.FromSeconds(1));
    }

    private static void RentAndReturn(TestSetup setup, int blocks)
    {
        foreach (IMemoryOwner<byte> owner in Enumerable.Range(0, blocks).Select(_ => setup.Allocator.Allocate<byte>(Block)).ToArray())
        {
            owner.Dispose();
        }
    }

    private static MemoryReservation Reserve(MemoryAllocator allocator, long bytes)
    {
        Assert.True(allocator.TryReserve(bytes, out MemoryReservation? reservation));
        return reservation!;
    }
}
