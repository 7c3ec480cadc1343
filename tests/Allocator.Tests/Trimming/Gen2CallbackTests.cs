namespace Allocator.Tests.Trimming;

public class Gen2CallbackTests
{
    private const int Block = TestSetup.BlockSize;

    [Fact]
    public void Collection_HighLoad_TrimsWithoutTheTimer() => RemoteExecutor.Invoke(static () =>
    {
        using TestSetup setup = new(16, watchesCollections: true);
        setup.Pressure.IsHigh = true;
        for (int i = 0; i < 3; i++)
        {
            setup.Allocator.AllocateGroup<byte>(8 * Block).Dispose();
            Assert.Equal(8 * Block, setup.Statistics.RetainedBytes);
            Assert.True(SpinWait.SpinUntil(
                () =>
                {
                    QueuedWork.Collect();
                    setup.Clock.Advance(TimeSpan.Zero);
                    return setup.Statistics.RetainedBytes == 0;
                },
                TimeSpan.FromSeconds(30)));
        }
    }).Dispose();

    [Fact]
    public void Collection_NothingHeldAnyMore_CallsNothing() => RemoteExecutor.Invoke(static () =>
    {
        using TestSetup setup = new(16, watchesCollections: true);
        setup.Allocator.Allocate<byte>(Block).Dispose();
        setup.Allocator.ReleaseRetainedResources();
        setup.Clock.Advance(TimeSpan.FromMinutes(2));
        Assert.False(setup.Scheduler.IsRunning);
        int reads = setup.Pressure.Reads;
        for (int i = 0; i < 5; i++)
        {
            QueuedWork.Collect();
        }

        Assert.Equal(reads, setup.Pressure.Reads);
    }).Dispose();

    [Fact]
    public void Allocator_Dropped_IsCollectedDespiteTimerAndCallback() => RemoteExecutor.Invoke(static () =>
    {
        WeakReference allocator = UseAndDrop();
        Assert.True(SpinWait.SpinUntil(
            () =>
            {
                QueuedWork.Collect();
                return !allocator.IsAlive;
            },
            TimeSpan.FromSeconds(30)));

        [MethodImpl(MethodImplOptions.NoInlining)]
        static WeakReference UseAndDrop()
        {
            MemoryAllocator allocator = MemoryAllocator.Create();
            allocator.Allocate<byte>(3 << 20).Dispose();
            return new WeakReference(allocator);
        }
    }).Dispose();

    [Fact]
    public void Close_MemoryOutstandingAndQuarantined_TimerAndCallbackEndAndNothingLeaks() => RemoteExecutor.Invoke(static () =>
    {
        TestSetup setup = new(16, watchesCollections: true);
        IMemoryOwner<byte> outstanding = setup.Allocator.Allocate<byte>(Block);
        Abandon(setup.Allocator);
        QueuedWork.Collect();
        Assert.Equal(40 * Block, setup.Statistics.QuarantinedBytes);
        setup.Scheduler.Close();
        Assert.Equal((0, false), (setup.Clock.RunningTimers, setup.Scheduler.IsRunning));

        // What is in quarantine, and what is abandoned from here on, goes with a further collection.
        Abandon(setup.Allocator);
        int reads = setup.Pressure.Reads;
        Assert.True(SpinWait.SpinUntil(
            () =>
            {
                QueuedWork.Collect();
                return setup.Statistics.QuarantinedBytes == 0 && setup.Source.LiveAllocations == 0;
            },
            TimeSpan.FromSeconds(30)));
        Assert.Equal(2, setup.Statistics.Abandoned);
        outstanding.Dispose();
        setup.Allocator.Allocate<byte>(2 * Block).Dispose();
        Assert.Equal((0, reads), (setup.Clock.RunningTimers, setup.Pressure.Reads));
        setup.Allocator.Dispose();
        Assert.Equal(0, setup.Source.LiveReservations);

        [MethodImpl(MethodImplOptions.NoInlining)]
        static void Abandon(MemoryAllocator allocator) => GC.KeepAlive(allocator.Allocate<byte>(40 * Block));
    }).Dispose();

    [Fact]
    public void Timer_OfTheRealClock_TrimsIdleMemoryToNothing() => RemoteExecutor.Invoke(static () =>
    {
        using MemoryAllocator first = MemoryAllocator.Create(new MemoryAllocatorOptions { TrimPeriod = TimeSpan.FromMilliseconds(20) });
        using MemoryAllocator second = MemoryAllocator.Create(new MemoryAllocatorOptions { TrimPeriod = TimeSpan.FromMilliseconds(30) });
        first.AllocateGroup<byte>(40 << 20).Dispose();
        second.AllocateGroup<byte>(40 << 20).Dispose();
        Assert.True(SpinWait.SpinUntil(() => first.GetStatistics().CommittedBytes == 0
            && second.GetStatistics().CommittedBytes == 0, TimeSpan.FromSeconds(30)));
        Assert.Equal(40 << 20, first.GetStatistics().TrimmedBytes);
    }).Dispose();
}
