using System.Runtime;
using Allocator.Allocators;
using Allocator.Trimming;

namespace Allocator.Tests.Trimming;

/// <summary>When the library forces a collection, and on which thread.</summary>
public class CollectionRequestsTests
{
    private const int Block = TestSetup.BlockSize;
    private static readonly TimeSpan s_period = TimeSpan.FromMinutes(1);
    private static readonly TimeSpan s_patience = TimeSpan.FromSeconds(30);

    private readonly FakeClock _clock = new();
    private readonly AllocatorCounters _counters = new();
    private int _collections;

    // In processes of their own: a collection that another test causes is one that need not be forced.
    [Fact]
    public void Tick_MemoryOutstandingInAnIdleProcess_CollectsEverMoreRarely() => RemoteExecutor.Invoke(static () =>
    {
        using TestSetup setup = new(options: new MemoryAllocatorOptions { CollectToFindAbandoned = true });
        using IMemoryOwner<byte> owner = setup.Allocator.Allocate<byte>(Block);
        List<int> minutes = [];
        for (int minute = 1; minute <= 300; minute++)
        {
            int before = setup.Collections;
            setup.Clock.Advance(s_period);
            if (setup.Collections > before)
            {
                minutes.Add(minute);
            }
        }

        // After two a period apart the interval doubles, up to an hour.
        Assert.Equal([1, 2, 4, 8, 16, 32, 64, 124, 184, 244], minutes);
    }).Dispose();

    [Theory]
    [InlineData("rent")]
    [InlineData("return")]
    public void Tick_AfterTheNextRentOrReturn_CollectsAtTheFullRateAgain(string what) => RemoteExecutor.Invoke(
        static what =>
        {
            using TestSetup setup = new(options: new MemoryAllocatorOptions { CollectToFindAbandoned = true });
            IMemoryOwner<byte> owner = setup.Allocator.Allocate<byte>(Block);
            using IMemoryOwner<byte> other = setup.Allocator.Allocate<byte>(50 * Block);
            setup.Clock.Advance(s_period * 70);
            int before = setup.Collections;
            using IMemoryOwner<byte>? next = what == "rent" ? setup.Allocator.Allocate<byte>(Block) : null;
            if (what == "return")
            {
                owner.Dispose();
            }

            setup.Clock.Advance(s_period * 2);
            Assert.Equal(2, setup.Collections - before);
            owner.Dispose();
        },
        what).Dispose();

    [Fact]
    public void Tick_NothingOutstanding_ForcesNoCollection()
    {
        using TestSetup setup = new(options: new MemoryAllocatorOptions { CollectToFindAbandoned = true });
        setup.Allocator.Allocate<byte>(Block).Dispose();
        setup.Clock.Advance(s_period * 10);
        Assert.Equal(0, setup.Collections);
    }

    [Fact]
    public void Tick_PeriodAboveAnHour_IsTheInterval() => RemoteExecutor.Invoke(static () =>
    {
        using TestSetup setup = new(
            options: new MemoryAllocatorOptions { TrimPeriod = TimeSpan.FromHours(2), CollectToFindAbandoned = true });
        using IMemoryOwner<byte> owner = setup.Allocator.Allocate<byte>(Block);
        setup.Clock.Advance(TimeSpan.FromHours(20));
        Assert.Equal(10, setup.Collections);
    }).Dispose();

    [Fact]
    public void Request_PoolFull_CollectsOnAnotherThreadOnceAPeriod()
    {
        int collections = 0;
        int thread = 0;
        FakeClock clock = new();
        CollectionRequests requests = new(
            clock,
            () =>
            {
                thread = Environment.CurrentManagedThreadId;
                Interlocked.Increment(ref collections);
            },
            static () => { },
            static () => GCLatencyMode.Interactive);
        for (int i = 0; i < 10; i++)
        {
            // One by one: requests that are queued at the same time would be one piece of work.
            requests.Request(s_period, beforeRefusal: i % 2 == 0);
            QueuedWork.WaitForThreads();
        }

        Assert.Equal(1, Volatile.Read(ref collections));
        Assert.NotEqual(Environment.CurrentManagedThreadId, thread);
        clock.Advance(s_period);
        requests.Request(s_period, beforeRefusal: false);
        QueuedWork.WaitForThreads();
        Assert.Equal(2, Volatile.Read(ref collections));
    }

    /// <summary>Outside of a container nothing refuses memory: dropped buffers would fill the machine before the next search.</summary>
    [Fact]
    public void Allocate_OutstandingHasGrownByThePoolSinceTheLastSearch_SearchesAgain()
    {
        const int Pool = 4;
        using TestSetup setup = new(maximumBlocks: Pool);
        List<IMemoryOwner<byte>> owners = [];
        Grow(Pool + 1);
        Assert.True(setup.HasCollected(1));
        setup.Clock.Advance(OutstandingGrowth.ShortestInterval);
        Grow(Pool - 1);
        QueuedWork.WaitForThreads();
        Assert.Equal(1, setup.Collections);
        Grow(1);
        Assert.True(setup.HasCollected(2));

        // It found nothing: the next one needs twice as much.
        setup.Clock.Advance(OutstandingGrowth.ShortestInterval);
        Grow((2 * Pool) - 1);
        QueuedWork.WaitForThreads();
        Assert.Equal(2, setup.Collections);
        Grow(1);
        Assert.True(setup.HasCollected(3));
        owners.ForEach(owner => owner.Dispose());

        void Grow(int blocks)
        {
            for (int i = 0; i < blocks; i++)
            {
                owners.Add(setup.Allocator.Allocate<byte>(Block));
            }
        }
    }

    /// <summary>If the runtime does not collect concurrently, all threads stand still while it does.</summary>
    [Fact]
    public void Look_SlowCollections_TakeAtMostFivePercentOfTheTime() => RemoteExecutor.Invoke(static () =>
    {
        const int Seconds = 400;
        FakeClock clock = new();
        int collections = 0;
        CollectionRequests requests = new(
            clock,
            () =>
            {
                collections++;
                clock.Advance(TimeSpan.FromSeconds(1));
            },
            static () => { },
            static () => GCLatencyMode.Batch);
        long end = clock.NowMilliseconds + (Seconds * 1000);
        for (int activity = 0; clock.NowMilliseconds < end; activity++)
        {
            clock.Advance(TimeSpan.FromSeconds(1));
            requests.Look(1000, activity, isAwaited: true, hasWaiters: true);
        }

        Assert.InRange(collections, Seconds / 30, Seconds / 20);
    }).Dispose();

    [Fact]
    public void Request_LongPeriodOfOnePool_DoesNotStarveAnother()
    {
        using TestSetup slow = new(1, new MemoryAllocatorOptions { TrimPeriod = TimeSpan.FromHours(10), CollectToFindAbandoned = true });
        using TestSetup fast = new(1, new MemoryAllocatorOptions { CollectToFindAbandoned = true }, sharesTimeWith: slow);
        using IMemoryOwner<byte> first = slow.Allocator.Allocate<byte>(Block);
        using IMemoryOwner<byte> second = slow.Allocator.Allocate<byte>(Block);
        Assert.True(SpinWait.SpinUntil(() => slow.Collections == 1, s_patience));
        slow.Clock.Advance(s_period + s_period);
        int before = slow.Collections;
        using IMemoryOwner<byte> third = fast.Allocator.Allocate<byte>(Block);
        using IMemoryOwner<byte> fourth = fast.Allocator.Allocate<byte>(Block);
        Assert.True(SpinWait.SpinUntil(() => slow.Collections == before + 1, s_patience));
    }

    [Theory]
    [InlineData(GCLatencyMode.Batch, 0, 1)]
    [InlineData(GCLatencyMode.NoGCRegion, 0, 0)]
    [InlineData(GCLatencyMode.Interactive, 1, 1)]
    public void Request_LatencyMode_DecidesWhatIsWorthACollection(GCLatencyMode mode, int forRoom, int beforeRefusal)
    {
        int collections = 0;
        CollectionRequests requests = new(new FakeClock(), () => Interlocked.Increment(ref collections), static () => { }, () => mode);
        requests.Request(s_period, beforeRefusal: false);
        QueuedWork.WaitForThreads();
        Assert.Equal(forRoom, Volatile.Read(ref collections));
        requests = new(new FakeClock(), () => Interlocked.Increment(ref collections), static () => { }, () => mode);
        requests.Request(s_period, beforeRefusal: true);
        QueuedWork.WaitForThreads();
        Assert.Equal(forRoom + beforeRefusal, Volatile.Read(ref collections));

        // At a tick, while a request waits: nothing else may end its wait.
        int waits = 0;
        requests = new(new FakeClock(), () => waits++, static () => { }, () => mode);
        requests.Look(1000, activity: 0, isAwaited: true, hasWaiters: false);
        Assert.Equal(forRoom, waits);
        requests = new(new FakeClock(), () => waits++, static () => { }, () => mode);
        requests.Look(1000, activity: 0, isAwaited: true, hasWaiters: true);
        Assert.Equal(forRoom + beforeRefusal, waits);
    }

    [Fact]
    public void CollectToFindAbandoned_False_ForcesNone()
    {
        using TestSetup setup = new(1, new MemoryAllocatorOptions { CollectToFindAbandoned = false }, budget: 100 * Block);
        using IMemoryOwner<byte> inPool = setup.Allocator.Allocate<byte>(Block);
        using IMemoryOwner<byte> beyond = setup.Allocator.Allocate<byte>(50 * Block);
        Assert.Throws<MemoryLimitExceededException>(() => setup.Allocator.Allocate<byte>(90 * Block));
        setup.Clock.Advance(s_period * 20);
        using IMemoryOwner<byte> last = setup.Allocator.Allocate<byte>(Block);
        QueuedWork.WaitForThreads();
        Assert.Equal(0, setup.Collections);
    }

    // In a process of its own: what was found abandoned there decides.
    [Fact]
    public void CollectToFindAbandoned_Default_SearchesFromTheFirstFindOn() => RemoteExecutor.Invoke(static () =>
    {
        using TestSetup setup = new(4, new MemoryAllocatorOptions { Abandoned = AbandonedMemory.Reuse });
        using IMemoryOwner<byte> live = setup.Allocator.Allocate<byte>(Block);
        setup.Clock.Advance(s_period * 20);
        Assert.Equal(0, setup.Collections);

        // As a collection of the runtime's own finds it.
        Abandon(setup.Allocator);
        QueuedWork.Collect();
        Assert.Equal(1, setup.Statistics.Abandoned);
        setup.Clock.Advance(s_period * 3);
        Assert.InRange(setup.Collections, 1, 3);
    }).Dispose();

    [Fact]
    public void CollectToFindAbandoned_DefaultAndNothingFound_FullPoolCollectsOnceAnHour()
    {
        using TestSetup setup = new(1);
        using IMemoryOwner<byte> inPool = setup.Allocator.Allocate<byte>(Block);
        for (int minute = 0; minute < 90; minute++)
        {
            setup.Allocator.Allocate<byte>(Block).Dispose();
            Assert.True(setup.HasCollected(minute < 60 ? 1 : 2));
            setup.Clock.Advance(s_period);
        }
    }

    [Fact]
    public void CollectToFindAbandoned_DefaultAndNothingFound_RefusalCollects()
    {
        using TestSetup setup = new(budget: 2 * Block);
        using IMemoryOwner<byte> live = setup.Allocator.Allocate<byte>(2 * Block);
        Assert.Throws<MemoryLimitExceededException>(() => setup.Allocator.Allocate<byte>(Block));
        Assert.True(SpinWait.SpinUntil(() => setup.Collections > 0, s_patience));
    }

    // The real collector, and the real mode: the runtime's own word on who induced what.
    [Theory]
    [InlineData("1", "0")]
    [InlineData("0", "0")]
    [InlineData("1", "1")]
    [InlineData("0", "1")]
    public void Allocator_RealCollector_ForcesNoneOnRentersAndNoneWithoutConcurrentCollection(string concurrent, string server)
    {
        RemoteInvokeOptions options = new();
        options.StartInfo.Environment["DOTNET_gcConcurrent"] = concurrent;
        options.StartInfo.Environment["DOTNET_gcServer"] = server;
        RemoteExecutor.Invoke(
            static concurrent =>
            {
                bool isConcurrent = concurrent == "1";
                Assert.Equal(!isConcurrent, GCSettings.LatencyMode == GCLatencyMode.Batch);
                FakeClock clock = new();
                int renter = Environment.CurrentManagedThreadId;
                int forced = 0;
                int forcedByRenter = 0;
                TrimTimer scheduler = new(clock, Force, watchesCollections: true, static () => GCSettings.LatencyMode);
                MemoryAllocatorOptions options = new() { MaximumPoolSizeMegabytes = 8, CollectToFindAbandoned = true };
                using MemoryAllocator allocator = new PooledMemoryAllocator(new AllocatorSettings(options)
                {
                    Clock = clock,
                    Scheduler = scheduler,
                });
                int before = GC.CollectionCount(2);
                using IMemoryOwner<byte> live = allocator.Allocate<byte>(4 << 20);
                for (int i = 0; i < 100; i++)
                {
                    // The pool has no room for it: the renter asks. Ticks are those of another thread.
                    allocator.Allocate<byte>(16 << 20).Dispose();
                    Thread timer = new(() => clock.Advance(TimeSpan.FromMinutes(1)));
                    timer.Start();
                    timer.Join();
                }

                if (isConcurrent)
                {
                    Assert.True(SpinWait.SpinUntil(() => Volatile.Read(ref forced) > 0, TimeSpan.FromSeconds(30)));
                    Assert.Equal(0, forcedByRenter);
                }
                else
                {
                    Assert.Equal((0, before), (forced, GC.CollectionCount(2)));
                }

                void Force()
                {
                    Interlocked.Increment(ref forced);
                    if (Environment.CurrentManagedThreadId == renter)
                    {
                        Interlocked.Increment(ref forcedByRenter);
                    }

                    CollectionRequests.Collect();
                }
            },
            concurrent,
            options).Dispose();
    }

    [Fact]
    public void RunLastResort_ManyInASecond_CollectsOnce()
    {
        CollectionRequests requests = CreateForLastResort();
        for (int i = 0; i < 10; i++)
        {
            requests.RunLastResort(mayCollect: true, null, _counters);
            _clock.Advance(TimeSpan.FromMilliseconds(99));
        }

        Assert.Equal(1, _collections);
        _clock.Advance(TimeSpan.FromMilliseconds(10));
        requests.RunLastResort(mayCollect: true, null, _counters);
        Assert.Equal(2, _collections);
    }

    [Fact]
    public void RunLastResort_ATenthOfASecondAfterTheCollection_NeedsNoWait()
    {
        CollectionRequests requests = CreateForLastResort();
        Assert.True(requests.RunLastResort(mayCollect: true, null, _counters));
        _clock.Advance(TimeSpan.FromMilliseconds(99));
        Assert.True(requests.RunLastResort(mayCollect: true, null, _counters));
        _clock.Advance(TimeSpan.FromMilliseconds(1));
        Assert.False(requests.RunLastResort(mayCollect: true, null, _counters));
    }

    [Fact]
    public void RunLastResort_CollectionsNotWanted_OnlyTrimsMallocsMemory()
    {
        int trims = 0;
        NativeHeapTrimmer trimmer = new(_clock, () => ++trims > 0, static () => 0);
        Assert.False(CreateForLastResort().RunLastResort(mayCollect: false, trimmer, _counters));
        Assert.Equal((0, 1), (_collections, trims));
    }

    private CollectionRequests CreateForLastResort() =>
        new(_clock, static () => { }, () => _collections++, static () => GCLatencyMode.Interactive);

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void Abandon(MemoryAllocator allocator) => GC.KeepAlive(allocator.Allocate<byte>(Block));
}
