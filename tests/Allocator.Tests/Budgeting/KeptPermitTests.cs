using System.Collections.Concurrent;

namespace Allocator.Tests.Budgeting;

/// <summary>Idle blocks keep their part of the budget for the next rent, until a request has no room without it.</summary>
public class KeptPermitTests
{
    private const int Block = TestSetup.BlockSize;

    [Fact]
    public void Return_BudgetHasRoom_KeepsThePermitForTheNextRent()
    {
        using TestSetup setup = new(budget: 8 * Block);
        for (int i = 0; i < 3; i++)
        {
            using IMemoryOwner<byte> owner = setup.Allocator.Allocate<byte>(Block);
            Assert.Equal((Block, Block), (Admitted(setup), setup.Statistics.BudgetUsedBytes));
        }

        Assert.Equal((Block, 0L), (Admitted(setup), setup.Statistics.BudgetUsedBytes));
    }

    [Theory]
    [InlineData("Allocate")]
    [InlineData("AllocateAsync")]
    [InlineData("AllocateGroup")]
    [InlineData("TryReserve")]
    [InlineData("ReserveAsync")]
    [InlineData("TryGrow")]
    [InlineData("GrowAsync")]
    [InlineData("TrackExternalMemory")]
    public async Task Request_OnlyIdleBlocksAreInTheWay_IsServedWithoutAWait(string kind)
    {
        using TestSetup setup = new(budget: 8 * Block);
        KeepSome(setup, blocks: 4);
        await using Serving served = await Serving.StartAsync(setup.Allocator, kind);
        Assert.Equal((8L * Block, 0L), (setup.Statistics.BudgetUsedBytes, setup.Statistics.BudgetWaits));
        Assert.InRange(Admitted(setup), 0, 8 * Block);
    }

    [Fact]
    public async Task Return_WhileARequestWaits_GoesToItAndKeepsNothing()
    {
        using TestSetup setup = new(budget: 2 * Block);
        IMemoryOwner<byte> first = setup.Allocator.Allocate<byte>(Block);
        setup.Allocator.Allocate<byte>(Block).Dispose();
        Task<MemoryReservation> waiting = setup.Allocator.ReserveAsync(2 * Block).AsTask();
        Assert.False(waiting.IsCompleted);
        first.Dispose();
        (await waiting.WaitAsync(TimeSpan.FromSeconds(30))).Dispose();
        Assert.Equal(0, Admitted(setup));
    }

    [Fact]
    public void Trim_IdleBlocksHaveKeptTheirPermits_ReturnsThem()
    {
        using TestSetup setup = new(budget: 8 * Block);
        KeepSome(setup, blocks: 4);
        setup.Allocator.ReleaseRetainedResources();
        Assert.Equal((0L, 0L), (Admitted(setup), setup.Statistics.CommittedBytes));
    }

    [Fact]
    public void Tick_IdleBlocksHaveKeptTheirPermits_ReturnsThoseOfTheStale()
    {
        using TestSetup setup = new(budget: 8 * Block);
        KeepSome(setup, blocks: 1);
        for (int i = 0; i < 5; i++)
        {
            setup.Clock.Advance(TimeSpan.FromMinutes(1));
        }

        Assert.Equal((0L, 0L), (Admitted(setup), setup.Statistics.CommittedBytes));
    }

    [Fact]
    public void Dispose_IdleBlocksHaveKeptTheirPermits_ReturnsThem()
    {
        TestSetup setup = new(budget: 8 * Block);
        KeepSome(setup, blocks: 4);
        IMemoryOwner<byte> late = setup.Allocator.Allocate<byte>(Block);
        setup.Dispose();
        Assert.Equal(Block, Admitted(setup));
        late.Dispose();
        Assert.Equal((0L, 0), (Admitted(setup), setup.Source.LiveReservations));
    }

    [Fact]
    public void Reservation_RentsWhatTheBudgetHasKept_ReturnsEachPermitOnce()
    {
        using TestSetup setup = new(budget: 8 * Block);
        KeepSome(setup, blocks: 2);
        Assert.True(setup.Allocator.TryReserve(4 * Block, out MemoryReservation? reservation));
        IMemoryOwner<byte> ofReservation = reservation!.Allocate<byte>(Block);
        setup.Allocator.Allocate<byte>(Block).Dispose();
        Assert.Equal((3L * Block, (long)Block), (reservation.RemainingBytes, reservation.PeakUsedBytes));
        reservation.Dispose();
        Assert.Equal(Block, setup.Statistics.BudgetUsedBytes);
        ofReservation.Dispose();
        Assert.Equal(0, setup.Statistics.BudgetUsedBytes);
        setup.Allocator.ReleaseRetainedResources();
        Assert.Equal(0, Admitted(setup));
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
            KeepSome(setup, blocks: 2);
            Assert.Equal(0, setup.Statistics.BudgetUsedBytes);
        }

        setup.Allocator.ReleaseRetainedResources();
        Assert.Equal(0, Admitted(setup));
    }

    [Fact]
    public void Return_TheContainerHasToKeepSomeFree_KeepsNoPermit()
    {
        using TestSetup setup = new(budget: 8 * Block, minimumFree: Block);
        KeepSome(setup, blocks: 2);
        Assert.Equal(0, Admitted(setup));
    }

    // A run that is longer than the pool, so that idle blocks are in its way and of no use to it.
    [Fact]
    public void Allocate_ContainerWasLoweredBesideIdleBlocks_HasThemMakeRoomAndCountsEachPermitOnce()
    {
        using TestSetup setup = new(maximumBlocks: 4, budget: 8 * Block);
        setup.Left.Untouched = 0;
        KeepSome(setup, blocks: 4);
        Lower(setup, 5 * Block);

        KeepSome(setup, blocks: 4);
        Assert.Equal((4L * Block, 0L), (Admitted(setup), setup.Statistics.BudgetUsedBytes));

        using (setup.Allocator.Allocate<byte>(5 * Block))
        {
            Assert.Equal((5L * Block, 5L * Block), (Admitted(setup), setup.Statistics.BudgetUsedBytes));
            Assert.Equal(5 * Block, setup.Statistics.CommittedBytes);
        }

        KeepSome(setup, blocks: 4);
        Assert.Throws<MemoryLimitExceededException>(() => setup.Allocator.Allocate<byte>(6 * Block));
        Assert.Equal((0L, 0L), (Admitted(setup), setup.Statistics.BudgetUsedBytes));
        KeepSome(setup, blocks: 4);
        Assert.Equal((4L * Block, 0L), (Admitted(setup), setup.Statistics.BudgetUsedBytes));
    }

    // Groups drain the cache, one thread at a time, whenever the maps have too little; single blocks come back with their permits.
    [Fact]
    public void AllocateGroup_FiveHundredThreadsBesideKeptPermits_AllAreServedAndNothingIsLeft() => RemoteExecutor.Invoke(static () =>
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
    public async Task TryGrow_WhileAYoungerReservationWaitsToGrow_LetsItWait()
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

    private static long Admitted(TestSetup setup) => setup.Allocator.Account!.Budget!.AdmittedBytes;

    private static void KeepSome(TestSetup setup, int blocks)
    {
        foreach (IMemoryOwner<byte> owner in Enumerable.Range(0, blocks).Select(_ => setup.Allocator.Allocate<byte>(Block)).ToArray())
        {
            owner.Dispose();
        }
    }

    /// <summary>Has the whole budget of eight blocks, in one way or another.</summary>
    private sealed class Serving : IAsyncDisposable
    {
        private IDisposable[] _held = [];

        public static async Task<Serving> StartAsync(MemoryAllocator allocator, string kind)
        {
            Serving serving = new();
            if (kind is "TryGrow" or "GrowAsync")
            {
                Assert.True(allocator.TryReserve(Block, out MemoryReservation? reservation));
                serving._held = [reservation!];
                Assert.True(kind == "GrowAsync" || reservation!.TryGrow(7 * Block));
                await (kind == "TryGrow" ? default : reservation!.GrowAsync(7 * Block));
                return serving;
            }

            MemoryReservation? reserved = null;
            Assert.True(kind != "TryReserve" || allocator.TryReserve(8 * Block, out reserved));
            serving._held =
            [
                kind switch
                {
                    "Allocate" => allocator.Allocate<byte>(8 * Block),
                    "AllocateAsync" => await allocator.AllocateAsync<byte>(8 * Block),
                    "AllocateGroup" => allocator.AllocateGroup<byte>(8 * Block),
                    "ReserveAsync" => await allocator.ReserveAsync(8 * Block),
                    "TrackExternalMemory" => allocator.TrackExternalMemory(8 * Block),
                    _ => reserved!,
                },
            ];
            return serving;
        }

        public ValueTask DisposeAsync()
        {
            Array.ForEach(_held, static held => held.Dispose());
            return default;
        }
    }
}
