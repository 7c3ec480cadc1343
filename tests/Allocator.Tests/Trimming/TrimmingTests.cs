namespace Allocator.Tests.Trimming;

public class TrimmingTests
{
    private const int Block = TestSetup.BlockSize;
    private static readonly TimeSpan s_period = TimeSpan.FromMinutes(1);
    private static readonly TimeSpan s_patience = TimeSpan.FromSeconds(30);

    [Fact]
    public void Tick_LowLoad_HalvesWhatStayedIdleUntilNothingIsLeft()
    {
        using TestSetup setup = new(maximumBlocks: 16);
        setup.Allocator.AllocateGroup<byte>(9 * Block).Dispose();

        // In use during the first period. Then 9, 4, 2, 1 stay idle through one, and half of that, rounded up, goes.
        List<long> retained = [];
        for (int i = 0; i < 6; i++)
        {
            setup.Clock.Advance(s_period);
            retained.Add(setup.Statistics.RetainedBytes / Block);
        }

        Assert.Equal([9, 4, 2, 1, 0, 0], retained);
        Assert.Equal((4, 9L * Block, 9), (setup.Statistics.Trims, setup.Statistics.TrimmedBytes, setup.Source.Purges));
        Assert.Equal(0, setup.Clock.RunningTimers);
    }

    [Theory]
    [InlineData(0.0, 9)]
    [InlineData(0.1, 8)]
    [InlineData(1.0, 0)]
    public void Tick_TrimRate_IsTheReleasedPart(double rate, int left)
    {
        using TestSetup setup = new(16, new MemoryAllocatorOptions { TrimRate = rate });
        setup.Allocator.AllocateGroup<byte>(9 * Block).Dispose();
        setup.Clock.Advance(s_period + s_period);
        Assert.Equal(left * Block, setup.Statistics.RetainedBytes);
    }

    [Fact]
    public void Tick_BusyPool_KeepsWhatItUses()
    {
        using TestSetup setup = new(maximumBlocks: 16);
        setup.Allocator.AllocateGroup<byte>(12 * Block).Dispose();
        for (int i = 0; i < 12; i++)
        {
            List<IMemoryOwner<byte>> inUse = [.. Enumerable.Range(0, 4).Select(_ => setup.Allocator.Allocate<byte>(Block))];
            setup.Clock.Advance(s_period / 2);
            inUse.ForEach(static owner => owner.Dispose());
            setup.Clock.Advance(s_period / 2);
        }

        Assert.Equal(4 * Block, setup.Statistics.RetainedBytes);
    }

    [Fact]
    public void Tick_RunsInUse_AreKept()
    {
        using TestSetup setup = new(maximumBlocks: 16);
        for (int i = 0; i < 8; i++)
        {
            using (setup.Allocator.Allocate<byte>(6 * Block))
            {
                setup.Clock.Advance(s_period / 2);
            }

            setup.Clock.Advance(s_period / 2);
        }

        Assert.Equal((6L * Block, 0L), (setup.Statistics.RetainedBytes, setup.Statistics.TrimmedBytes));
    }

    [Fact]
    public void Tick_HighLoad_TrimsAllIdleAndKeepsOutstandingMemory()
    {
        using TestSetup setup = new(maximumBlocks: 16);
        using IMemoryOwner<byte> owner = setup.Allocator.Allocate<byte>(Block);
        owner.Memory.Span.Fill(5);
        setup.Allocator.AllocateGroup<byte>(9 * Block).Dispose();
        setup.Pressure.IsHigh = true;
        setup.Clock.Advance(s_period);

        Assert.Equal((0L, 1L * Block), (setup.Statistics.RetainedBytes, setup.Statistics.CommittedBytes));
        Assert.Equal(-1, owner.Memory.Span.IndexOfAnyExcept((byte)5));
    }

    [Fact]
    public void Tick_SeveralPools_AreTrimmedByOneTimer()
    {
        using TestSetup first = new(16);
        using TestSetup second = new(16, new MemoryAllocatorOptions { TrimPeriod = s_period / 2 }, sharesTimeWith: first);
        using TestSetup third = new(16, sharesTimeWith: first);
        first.Allocator.AllocateGroup<byte>(8 * Block).Dispose();
        second.Allocator.AllocateGroup<byte>(8 * Block).Dispose();
        Assert.Equal(1, first.Clock.RunningTimers);

        first.Clock.Advance(s_period + s_period);
        Assert.Equal(
            (4, 1, 0), (first.Statistics.RetainedBytes / Block, second.Statistics.RetainedBytes / Block, third.Statistics.RetainedBytes));
        Assert.Equal(1, first.Clock.RunningTimers);
        first.Clock.Advance(s_period * 10);
        Assert.Equal(0, first.Clock.RunningTimers);
    }

    [Fact]
    public void Timer_MemoryOutstanding_RunsAndStopsAfterwards()
    {
        using TestSetup setup = new(16);
        Assert.Equal(0, setup.Clock.RunningTimers);
        setup.Allocator.Allocate<byte>(10).Dispose();
        Assert.Equal(0, setup.Clock.RunningTimers);

        using (setup.Allocator.Allocate<byte>(Block))
        {
            setup.Clock.Advance(s_period * 10);
            Assert.Equal(1, setup.Clock.RunningTimers);
        }

        setup.Clock.Advance(s_period * 3);
        Assert.Equal(0, setup.Clock.RunningTimers);
        using IMemoryOwner<byte> mapping = setup.Allocator.Allocate<byte>(100 * Block);
        Assert.Equal(1, setup.Clock.RunningTimers);
        Assert.True(setup.Scheduler.IsRunning);
    }

    [Fact]
    public void Tick_TimerAndCollectionInOnePeriod_TrimOnce()
    {
        using TestSetup setup = new(16);
        setup.Allocator.AllocateGroup<byte>(8 * Block).Dispose();
        setup.Clock.Advance(s_period + s_period);
        setup.Scheduler.Tick();
        setup.Scheduler.Tick();
        Assert.Equal((4L * Block, 1L), (setup.Statistics.RetainedBytes, setup.Statistics.Trims));

        // At high load each trigger acts at once.
        setup.Pressure.IsHigh = true;
        setup.Scheduler.Tick();
        Assert.Equal(0, setup.Statistics.RetainedBytes);
    }

    // Collections of other tests would count as well.
    [Fact]
    public void Tick_ManyPools_AskForOneCollectionAPeriodBetweenThem() => RemoteExecutor.Invoke(static () =>
    {
        MemoryAllocatorOptions searching = new() { CollectToFindAbandoned = true };
        using TestSetup first = new(16, searching);
        System.Collections.Generic.List<TestSetup> all = [first];
        List<IMemoryOwner<byte>> owners = [];
        for (int i = 0; i < 20; i++)
        {
            all.Add(new TestSetup(16, searching, sharesTimeWith: first));
            owners.Add(all[^1].Allocator.Allocate<byte>(Block));
            first.Clock.Advance(s_period / 20);
        }

        // Of what rents ask for one a period comes; then nothing is rented any more, and the interval grows.
        int before = first.Collections;
        first.Clock.Advance(s_period * 4);
        Assert.InRange(first.Collections - before, 2, 4);
        owners.ForEach(static owner => owner.Dispose());
    }).Dispose();

    [Fact]
    public void Tick_AllocatorsThatLeakAndAreDropped_DoNotDelayItForEver() => RemoteExecutor.Invoke(static () =>
    {
        TestSetup time = new(1);
        for (int i = 0; i < 20; i++)
        {
            Leak(time);
            QueuedWork.Collect();
            time.Clock.Advance(s_period / 2);
        }

        // The clock's collections are counted, not made; those above were made by hand, before every second look.
        Assert.InRange(time.Clock.TimersFired, 5, 40);

        [System.Runtime.CompilerServices.MethodImpl(System.Runtime.CompilerServices.MethodImplOptions.NoInlining)]
        static void Leak(TestSetup time) => GC.KeepAlive(new TestSetup(1, sharesTimeWith: time).Allocator.Allocate<byte>(40 * Block));
    }).Dispose();

    [Fact]
    public void Trim_SystemIsSlow_RentersContinue()
    {
        using TestSetup setup = new(maximumBlocks: 16);
        setup.Allocator.AllocateGroup<byte>(8 * Block).Dispose();
        int rentsDuringPurge = 0;
        setup.Source.OnPurge = () =>
        {
            // Another thread rents and returns, of every kind, in the middle of the system call.
            Thread renter = new(() =>
            {
                setup.Allocator.Allocate<byte>(Block).Dispose();
                setup.Allocator.AllocateGroup<byte>(3 * Block).Dispose();
                setup.Allocator.Allocate<byte>(3 * Block).Dispose();
                rentsDuringPurge++;
            });
            renter.Start();
            Assert.True(renter.Join(TimeSpan.FromSeconds(30)), "The renter waits for the trim.");
        };
        setup.Allocator.ReleaseRetainedResources();
        setup.Source.OnPurge = null;
        Assert.InRange(rentsDuringPurge, 2, int.MaxValue);
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task Tick_PurgeHangs_RentersContinue(bool isHigh)
    {
        using TestSetup setup = new(maximumBlocks: 16);
        using ManualResetEventSlim purging = new();
        using ManualResetEventSlim mayEnd = new();
        setup.Allocator.AllocateGroup<byte>(8 * Block).Dispose();
        setup.Clock.Advance(s_period);
        setup.Source.OnPurge = () =>
        {
            purging.Set();
            Assert.True(mayEnd.Wait(s_patience), "The purge does not end.");
        };
        setup.Pressure.IsHigh = isHigh;
        Task tick = Task.Run(() => setup.Clock.Advance(s_period));
        Assert.True(purging.Wait(s_patience), "Nothing is purged.");

        // All of the pool but the block in hand, memory of its own, and what the pool has no room for: were any of it to wait for the
        // purge, nothing would end that.
        Task renters = Task.Run(() =>
        {
            setup.Allocator.AllocateGroup<byte>(15 * Block).Dispose();
            setup.Allocator.Allocate<byte>(5 * Block).Dispose();
            setup.Allocator.Allocate<byte>(100 * Block).Dispose();
            _ = setup.Statistics;
        });
        Task first = await Task.WhenAny(renters, Task.Delay(s_patience));
        mayEnd.Set();
        await Task.WhenAll(tick, renters);
        setup.Source.OnPurge = null;
        Assert.True(first == renters, "The renters wait for the trim.");
    }

    [Fact]
    public void Tick_PoolsThatShareASource_ReadTheLoadOnce()
    {
        using TestSetup first = new(16);
        using TestSetup second = new(16, sharesTimeWith: first);
        first.Allocator.Allocate<byte>(Block).Dispose();
        second.Allocator.Allocate<byte>(Block).Dispose();
        first.Pressure.IsHigh = true;
        first.Scheduler.Tick();

        Assert.Equal((1, 0, 0), (first.Pressure.Reads, first.Statistics.RetainedBytes, second.Statistics.RetainedBytes));
    }

    [Fact]
    public void Trim_LockedPages_KeepsTheBlockAndItsAccount()
    {
        using TestSetup setup = new(maximumBlocks: 16);
        setup.Allocator.AllocateGroup<byte>(4 * Block).Dispose();
        setup.Source.PurgesAllowed = 1;
        setup.Allocator.ReleaseRetainedResources();
        Assert.Equal(
            (3L * Block, 3L * Block, 1L * Block),
            (setup.Statistics.RetainedBytes, setup.Statistics.CommittedBytes, setup.Statistics.TrimmedBytes));
        setup.Allocator.AllocateGroup<byte>(4 * Block, 1, AllocationOptions.Clean).Dispose();
        setup.Source.PurgesAllowed = int.MaxValue;
        setup.Allocator.ReleaseRetainedResources();
        Assert.Equal(0, setup.Statistics.CommittedBytes);
    }

    [Fact]
    public void ReleaseRetainedResources_WithOutstandingMemory_KeepsIt()
    {
        using TestSetup setup = new(maximumBlocks: 16);
        using IMemoryOwner<byte> block = setup.Allocator.Allocate<byte>(Block);
        using IMemoryOwner<byte> run = setup.Allocator.Allocate<byte>(3 * Block);
        using MemoryGroup<byte> group = setup.Allocator.AllocateGroup<byte>(3 * Block);
        setup.Allocator.AllocateGroup<byte>(4 * Block).Dispose();
        block.Memory.Span.Fill(1);
        run.Memory.Span.Fill(2);
        group.Fill(3);

        setup.Allocator.ReleaseRetainedResources();
        Assert.Equal(
            (7L * Block, 7L * Block, 0L), (setup.Statistics.RentedBytes, setup.Statistics.CommittedBytes, setup.Statistics.RetainedBytes));
        Assert.Equal(-1, block.Memory.Span.IndexOfAnyExcept((byte)1));
        Assert.Equal(-1, run.Memory.Span.IndexOfAnyExcept((byte)2));
        Assert.All(group, static member => Assert.Equal(-1, member.Span.IndexOfAnyExcept((byte)3)));
    }
}
