using System.Diagnostics.Tracing;
using Allocator.Tests.Diagnostics;

namespace Allocator.Tests.Pooling;

public class BlockHooksTests
{
    private const int Block = TestSetup.BlockSize;

    private readonly RegisteredBlocks _device = new();

    [Fact]
    public void Committed_FirstUseOnly_GetsTheBlockOnTheRentersThread()
    {
        int thread = 0;
        _device.OnCommitted = _ => thread = Environment.CurrentManagedThreadId;
        using TestSetup setup = new(options: _device.CreateOptions());
        using (IMemoryOwner<byte> owner = setup.Allocator.Allocate<byte>(Block))
        {
            Assert.True(_device.Contains(GuardedSetup.AddressOf(owner)));
        }

        setup.Allocator.Allocate<byte>(Block).Dispose();
        setup.Allocator.AllocateGroup<byte>(Block).Dispose();
        Assert.Equal((1, 0, Environment.CurrentManagedThreadId), (_device.Commits, _device.Releases, thread));
    }

    [Fact]
    public void Hooks_GroupsRunsAndPrewarm_GetEachBlockOnce()
    {
        using TestSetup setup = new(maximumBlocks: 16, options: _device.CreateOptions());
        using MemoryGroup<byte> group = setup.Allocator.AllocateGroup<byte>(5 * Block);
        using IMemoryOwner<byte> run = setup.Allocator.Allocate<byte>(3 * Block);
        setup.Allocator.Prewarm(4 * Block);
        Assert.Equal((12, 12), (_device.Commits, _device.Count));
        group.Dispose();
        run.Dispose();
        setup.Allocator.ReleaseRetainedResources();
        Assert.Equal((12, 0, null), (_device.Releases, _device.Count, _device.Error));
    }

    // Each request released the next block, whose hook requested the same, with 64 attempts at every depth.
    [Theory]
    [InlineData(100)]
    [InlineData(Block)]
    [InlineData(2 * Block)]
    [InlineData(12 * Block)]
    public void Releasing_AllocatesWhileTheBudgetIsFullOfIdleBlocks_IsServedOrRefusedAtOnce(int length)
    {
        using TestSetup setup = new(options: _device.CreateOptions(), budget: 16 * Block);
        IMemoryOwner<byte>[] blocks = [.. Enumerable.Range(0, 16).Select(_ => setup.Allocator.Allocate<byte>(Block))];
        using IMemoryOwner<byte> inTheMiddle = blocks.OrderBy(GuardedSetup.AddressOf).ElementAt(7);
        foreach (IMemoryOwner<byte> block in blocks.Where(block => block != inTheMiddle))
        {
            block.Dispose();
        }

        Assert.Equal(15 * Block, setup.Statistics.RetainedBytes);
        int depth = 0;
        int served = 0;
        int refused = 0;
        _device.OnReleasing = _ =>
        {
            Assert.Equal(0, depth++);
            try
            {
                setup.Allocator.Allocate<byte>(length).Dispose();
                served++;
            }
            catch (MemoryLimitExceededException exception)
            {
                Assert.True(exception.IsTransient);
                refused++;
            }

            depth--;
        };

        // No run is so long: it is a mapping, for which idle blocks go.
        setup.Allocator.Allocate<byte>(10 * Block).Dispose();
        _device.OnReleasing = null;
        Assert.Equal((null, _device.Releases), (_device.Error, served + refused));
        Assert.InRange(_device.Releases, 10, 15);
        Assert.Empty(setup.Clock.Delays);
        Assert.Equal(Block, setup.Statistics.BudgetUsedBytes);
    }

    [Fact]
    public async Task Releasing_WaitsForTheBudget_IsRefusedAtOnce()
    {
        MemoryAllocatorOptions options = _device.CreateOptions();
        options.BudgetTimeout = Timeout.InfiniteTimeSpan;
        using TestSetup setup = new(options: options, budget: 16 * Block);
        using IMemoryOwner<byte> held = setup.Allocator.Allocate<byte>(12 * Block);
        setup.Allocator.Allocate<byte>(Block).Dispose();
        Task<MemoryReservation>? reserving = null;
        int refused = 0;
        _device.OnReleasing = _ =>
        {
            Assert.Throws<MemoryLimitExceededException>(() => setup.Allocator.Allocate<byte>(8 * Block));
            reserving = setup.Allocator.ReserveAsync(8 * Block).AsTask();
            refused++;
        };
        setup.Allocator.ReleaseRetainedResources();
        _device.OnReleasing = null;
        Assert.NotEqual(0, refused);
        await Assert.ThrowsAsync<MemoryLimitExceededException>(() => reserving!.WaitAsync(TimeSpan.FromSeconds(30)));
        Assert.Equal(0, setup.Clock.Waits);
    }

    // By the last figures it fits, but so little would be left that they are read again.
    [Theory]
    [InlineData(0)]
    [InlineData(100)]
    public void Releasing_AllocatesInAFullContainer_IsRefusedWithItsLimit(int minimumFreeBlocks)
    {
        const long Limit = 400 * Block;
        long free = (minimumFreeBlocks + 20) * Block;
        FakeHeadroom left = new() { Now = new Headroom(Limit, free, free) };
        using TestSetup setup = new(options: _device.CreateOptions(), minimumFree: minimumFreeBlocks * Block, left: left);
        setup.Allocator.Allocate<byte>(Block).Dispose();
        MemoryLimitExceededException? refusal = null;
        _device.OnReleasing = _ =>
        {
            left.Now = new Headroom(Limit, 0, 0);
            setup.Clock.Advance(TimeSpan.FromMilliseconds(1));
            refusal = Assert.Throws<MemoryLimitExceededException>(() => setup.Allocator.Allocate<byte>(8 * Block));
        };
        setup.Allocator.ReleaseRetainedResources();
        Assert.Equal(Limit - (minimumFreeBlocks * Block), refusal?.LimitBytes);
    }

    [Fact]
    public void Releasing_BeforeThePurge_StillSeesTheContents()
    {
        byte seen = 0;
        List<string> order = [];
        using TestSetup setup = new(options: _device.CreateOptions());
        setup.Source.OnPurge = () => order.Add("purge");
        _device.OnReleasing = address =>
        {
            order.Add("releasing");
            seen = Read(address);
        };
        using (IMemoryOwner<byte> owner = setup.Allocator.Allocate<byte>(Block))
        {
            owner.Memory.Span.Fill(9);
        }

        setup.Allocator.ReleaseRetainedResources();
        Assert.Equal(["releasing", "purge"], order);
        Assert.Equal(9, seen);
        setup.Allocator.Allocate<byte>(Block).Dispose();
        Assert.Equal((2, 1), (_device.Commits, _device.Count));
    }

    [Fact]
    public void Releasing_AllocatorDisposed_RunsForIdleBlocksAndLaterForOutstandingOnes()
    {
        using TestSetup setup = new(options: _device.CreateOptions());
        IMemoryOwner<byte> held = setup.Allocator.Allocate<byte>(Block);
        setup.Allocator.Prewarm(3 * Block);
        setup.Allocator.Dispose();
        Assert.Equal((4, 3, 1), (_device.Commits, _device.Releases, _device.Count));
        held.Dispose();
        Assert.Equal((4, 0, null, 0), (_device.Releases, _device.Count, _device.Error, setup.Source.LiveReservations));
    }

    [Fact]
    public void Hooks_MemoryOutsideOfThePool_AreNotCalled()
    {
        using TestSetup setup = new(maximumBlocks: 2, options: _device.CreateOptions());
        setup.Allocator.Allocate<byte>(TestSetup.ArrayThreshold).Dispose();
        setup.Allocator.Allocate<byte>(3 * Block).Dispose();
        setup.Allocator.AllocateAligned<byte>(100, 2 << 20).Dispose();
        Assert.Equal(0, _device.Commits);
    }

    [Theory]
    [InlineData("single", 0)]
    [InlineData("run", 0)]
    [InlineData("run", 2)]
    [InlineData("group", 0)]
    [InlineData("group", 3)]
    [InlineData("scattered", 1)]
    [InlineData("prewarm", 0)]
    [InlineData("prewarm", 2)]
    public void Committed_Throws_NothingIsAllocatedAndNoBlockIsLost(string request, int registeredBefore)
    {
        using TestSetup setup = new(maximumBlocks: 8, options: _device.CreateOptions(), budget: 8 * Block);
        List<IMemoryOwner<byte>> scattered = request == "scattered" ? Scatter(setup.Allocator) : [];
        int before = _device.Count;
        int releases = _device.Releases;
        _device.OnCommitted = count => Assert.True(count < before + registeredBefore, "the device refuses");

        Exception refusal = Record.Exception(() => Request(setup.Allocator, request))!;

        Assert.Contains("the device refuses", refusal.Message);
        Assert.Equal((releases, null), (_device.Releases, _device.Error));
        Assert.Equal((before + registeredBefore) * Block, setup.Statistics.CommittedBytes);
        Assert.Equal(setup.Statistics.CommittedBytes, setup.Source.LiveBytes);
        Assert.Equal(scattered.Count, setup.Statistics.OutstandingAllocations);
        Assert.Equal(scattered.Count * Block, setup.Statistics.BudgetUsedBytes);

        // Every block is to be had, registered.
        _device.OnCommitted = null;
        scattered.ForEach(static owner => owner.Dispose());
        using MemoryGroup<byte> all = setup.Allocator.AllocateGroup<byte>(8 * Block);
        Assert.Equal((8, 0), (_device.Count, setup.Source.LiveAllocations));
    }

    // The hook failed, not the container: an endpoint's later exception is its own, and what the job leaks is kept from others as usual.
    [Fact]
    public async Task Committed_ThrowsWithinAJob_IsNoRefusalOfMemory()
    {
        using TestSetup setup = new(maximumBlocks: 8, options: _device.CreateOptions(), budget: 8 * Block);
        _device.OnCommitted = _ => throw new InvalidOperationException("the device refuses");
        using MemoryReservation job = await setup.Allocator.ReserveAsync(4 * Block);
        Assert.Throws<InvalidOperationException>(() => job.Allocate<byte>(Block));
        Assert.Equal(0, job.RefusalCount);
    }

    // Idle memory of all allocators goes before a request is refused. Trims of malloc, and waits of others, need that thread.
    [Fact]
    public void Releasing_RoomIsMadeOnTheThreadForLongWork_RunsElsewhere() => RemoteExecutor.Invoke(static () =>
    {
        RegisteredBlocks device = new();
        using ManualResetEventSlim released = new();
        int thread = 0;
        using TestSetup setup = new(options: device.CreateOptions(), runCallbacks: UserCallbacks.Thread.Queue);
        setup.Allocator.Allocate<byte>(Block).Dispose();
        device.OnReleasing = _ =>
        {
            thread = Environment.CurrentManagedThreadId;
            released.Set();
        };
        Work work = new(setup.Scheduler.ReleaseAll);
        BackgroundThread.Long.Ensure();
        BackgroundThread.Long.Queue(work);
        released.Wait();
        Assert.NotEqual(0, work.Thread);
        Assert.NotEqual(work.Thread, thread);
    }).Dispose();

    // Closing the pool cannot release what the failing request holds.
    [Theory]
    [InlineData("single")]
    [InlineData("run")]
    [InlineData("group")]
    [InlineData("prewarm")]
    public void Committed_ThrowsWhileTheAllocatorIsDisposed_LeavesNothing(string request)
    {
        TestSetup setup = new(maximumBlocks: 8, options: _device.CreateOptions());
        _device.OnCommitted = count =>
        {
            if (count == (request == "single" ? 0 : 1))
            {
                setup.Allocator.Dispose();
                throw new InvalidOperationException("the device refuses");
            }
        };

        Assert.Throws<InvalidOperationException>(() => Request(setup.Allocator, request));

        Assert.Equal(
            (0L, 0, 0L, 0, null),
            (setup.Source.LiveBytes, setup.Source.LiveReservations, setup.Statistics.CommittedBytes, _device.Count, _device.Error));
    }

    [Fact]
    public void Releasing_Throws_KeepsTheBlockAndTheNextCallThrows()
    {
        using TestSetup setup = new(options: _device.CreateOptions());
        setup.Allocator.Prewarm(3 * Block);
        int calls = 0;
        _device.OnReleasing = _ => Assert.True(++calls > 2, "the device holds on");

        Assert.Contains("the device holds on", Assert.ThrowsAny<Exception>(setup.Allocator.ReleaseRetainedResources).Message);

        Assert.Equal((2, 2L * Block), (_device.Count, setup.Statistics.RetainedBytes));
        setup.Allocator.ReleaseRetainedResources();
        Assert.Equal((0, 0L, null), (_device.Count, setup.Statistics.RetainedBytes, _device.Error));
    }

    [Fact]
    public void Releasing_ThrowsInTheBackground_IsAnEventAndNoLaterCallThrows() => RemoteExecutor.Invoke(static () =>
    {
        RegisteredBlocks device = new();
        using TestSetup setup = new(options: device.CreateOptions());
        using AllocatorEventListener listener = new(EventLevel.Warning, EventKeywords.None);
        setup.Allocator.Prewarm(2 * Block);

        // This call fails, and takes no later exception for its own.
        setup.Source.OnPurge = static () => throw new OutOfMemoryException();
        Assert.Throws<OutOfMemoryException>(setup.Allocator.ReleaseRetainedResources);
        setup.Source.OnPurge = null;
        device.OnReleasing = static _ => throw new InvalidOperationException("the device holds on");
        setup.Pressure.IsHigh = true;
        setup.Clock.Advance(TimeSpan.FromMinutes(1));
        Assert.Equal(2 * Block, setup.Statistics.RetainedBytes);
        EventWrittenEventArgs failure = listener.Take();
        Assert.Equal((12, "CallbackFailed", EventLevel.Warning), (failure.EventId, failure.EventName, failure.Level));
        Assert.Equal(["callback", "exceptionType", "message"], failure.PayloadNames!);
        Assert.Equal(["BlockReleasing", "System.InvalidOperationException", "the device holds on"], failure.Payload!);

        device.OnReleasing = null;
        setup.Allocator.ReleaseRetainedResources();
        Assert.Equal((0, 0L), (device.Count, setup.Statistics.CommittedBytes));
    }).Dispose();

    [Fact]
    public void Releasing_ThrowsInAReturnToADisposedAllocator_TheReturnSucceeds()
    {
        TestSetup setup = new(options: _device.CreateOptions());
        IMemoryOwner<byte> owner = setup.Allocator.Allocate<byte>(Block);
        setup.Allocator.Dispose();
        _device.OnReleasing = static _ => throw new InvalidOperationException("the device holds on");
        owner.Dispose();
        Assert.Equal((0L, 0), (setup.Statistics.CommittedBytes, setup.Source.LiveReservations));
    }

    [Fact]
    public void TakenBack_CommittedThrows_IsAnEvent() => RemoteExecutor.Invoke(static () =>
    {
        RegisteredBlocks device = new();
        using TestSetup setup = new(options: device.CreateOptions());
        using AllocatorEventListener listener = new(EventLevel.Warning, EventKeywords.None);
        setup.Allocator.Prewarm(Block);
        setup.Source.RefusesPurge = static _ => true;
        device.OnCommitted = static _ => throw new InvalidOperationException("the device is gone");
        setup.Pressure.IsHigh = true;
        setup.Clock.Advance(TimeSpan.FromMinutes(1));
        Assert.Equal(["BlockCommitted", "System.InvalidOperationException", "the device is gone"], listener.Take().Payload!);
        device.OnCommitted = null;
    }).Dispose();

    [Fact]
    public void Releasing_ThrowsAtDispose_MemoryIsStillFreed()
    {
        using TestSetup setup = new(options: _device.CreateOptions());
        setup.Allocator.Prewarm(2 * Block);
        _device.OnReleasing = static _ => throw new InvalidOperationException("the device holds on");

        Assert.Throws<InvalidOperationException>(setup.Allocator.Dispose);

        Assert.Equal((0, 0L), (setup.Source.LiveReservations, setup.Statistics.CommittedBytes));
    }

    [Fact]
    public void Releasing_SystemKeepsTheMemory_BlockIsRegisteredAgain()
    {
        using TestSetup setup = new(options: _device.CreateOptions());
        setup.Allocator.Prewarm(2 * Block);
        setup.Source.RefusesPurge = static _ => true;
        setup.Allocator.ReleaseRetainedResources();
        Assert.Equal((2, 2L * Block, null), (_device.Count, setup.Statistics.RetainedBytes, _device.Error));
        setup.Source.RefusesPurge = static _ => false;
        setup.Allocator.ReleaseRetainedResources();
        Assert.Equal((0, 0L, null), (_device.Count, setup.Statistics.RetainedBytes, _device.Error));
    }

    [Fact]
    public void Committed_HookAllocates_HoldsNoLock()
    {
        using TestSetup setup = new(options: _device.CreateOptions());
        _device.OnCommitted = count =>
        {
            if (_device.Commits < 3)
            {
                setup.Allocator.Allocate<byte>(Block).Dispose();
            }
        };
        using IMemoryOwner<byte> owner = setup.Allocator.Allocate<byte>(Block);
        Assert.True(_device.Contains(GuardedSetup.AddressOf(owner)));
        Assert.Null(_device.Error);
    }

    [Fact]
    public async Task Hooks_ManyThreadsAndTrims_EveryRentedBlockIsRegistered()
    {
        using TestSetup setup = new(maximumBlocks: 8, options: _device.CreateOptions());
        using CancellationTokenSource stop = new();
        Task trimmer = Task.Run(() =>
        {
            while (!stop.IsCancellationRequested)
            {
                setup.Allocator.ReleaseRetainedResources();
            }
        });
        int unregistered = 0;
        Task[] renters = [.. Enumerable.Range(0, 3).Select(_ => Task.Run(() =>
        {
            for (int i = 0; i < 2000; i++)
            {
                using IMemoryOwner<byte> owner = setup.Allocator.Allocate<byte>(Block);
                Interlocked.Add(ref unregistered, _device.Contains(GuardedSetup.AddressOf(owner)) ? 0 : 1);
            }
        }))];
        await Task.WhenAll(renters);
        await stop.CancelAsync();
        await trimmer;
        setup.Allocator.Dispose();
        Assert.Equal((0, 0, null), (unregistered, _device.Count, _device.Error));
    }

    // The finalizer of a dropped allocator closes its pool: not on its own thread, which must not wait for a device.
    private static unsafe byte Read(nint address) => *(byte*)address;

    // Every second block out, so that the others are single.
    private static List<IMemoryOwner<byte>> Scatter(MemoryAllocator allocator)
    {
        List<IMemoryOwner<byte>> owners = [.. Enumerable.Range(0, 8).Select(_ => allocator.Allocate<byte>(Block))];
        foreach (IMemoryOwner<byte> owner in owners.Where(static (_, i) => i % 2 == 1))
        {
            owner.Dispose();
        }

        allocator.ReleaseRetainedResources();
        return [.. owners.Where(static (_, i) => i % 2 == 0)];
    }

    private static void Request(MemoryAllocator allocator, string request)
    {
        switch (request)
        {
            case "single": allocator.Allocate<byte>(Block).Dispose(); break;
            case "run": allocator.Allocate<byte>(4 * Block).Dispose(); break;
            case "group": allocator.AllocateGroup<byte>(6 * Block).Dispose(); break;
            case "scattered": allocator.AllocateGroup<byte>(4 * Block).Dispose(); break;
            default: allocator.Prewarm(5 * Block); break;
        }
    }

    private sealed class Work(Action action) : IBackgroundWork
    {
        private BackgroundState _state;

        public int Thread { get; private set; }

        ref BackgroundState IBackgroundWork.State => ref _state;

        void IBackgroundWork.DoWork()
        {
            Thread = Environment.CurrentManagedThreadId;
            action();
        }
    }
}
