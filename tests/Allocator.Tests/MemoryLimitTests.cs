namespace Allocator.Tests;

/// <summary>Allocators in a container that has little left. In blocks of 16 KiB.</summary>
public class MemoryLimitTests
{
    private const int Block = TestSetup.BlockSize;
    private static readonly TimeSpan s_patience = TimeSpan.FromSeconds(30);

    [Fact]
    public void Allocate_CertainlyDoesNotFitTheContainer_IsRefused()
    {
        using TestSetup setup = new();
        Leave(setup, 3 * Block);
        MemoryLimitExceededException failure = Assert.Throws<MemoryLimitExceededException>(
            () => setup.Allocator.AllocateGroup<byte>(4 * Block));
        Assert.Equal(
            (4L * Block, 100L * Block, 3L * Block, true),
            (failure.RequestedBytes, failure.LimitBytes, failure.AvailableBytes, failure.IsTransient));
        Assert.Contains("49,152", failure.Message);
        Assert.Contains(nameof(MemoryAllocatorOptions.HonorMemoryLimit), failure.Message);
        Assert.Equal((0, 0), (setup.Statistics.RentedBytes, setup.Statistics.OutstandingAllocations));
        setup.Allocator.AllocateGroup<byte>(3 * Block).Dispose();
    }

    // Block by block it would take all that is left, have all idle memory and a collection go for it, and seem to fit later.
    [Fact]
    public void CreateStream_LargerThanTheContainer_NeverFitsAndTakesNothing()
    {
        using TestSetup setup = new();
        setup.Allocator.Allocate<byte>(Block).Dispose();
        Leave(setup, 50 * Block);
        using PooledMemoryStream stream = setup.Allocator.CreateStream();
        foreach (Action ask in new Action[] { () => setup.Allocator.CreateStream(101 * Block), () => stream.SetLength(101 * Block) })
        {
            MemoryLimitExceededException failure = Assert.Throws<MemoryLimitExceededException>(ask);
            Assert.Equal((101L * Block, 100L * Block, false), (failure.RequestedBytes, failure.LimitBytes, failure.IsTransient));
        }

        Assert.Equal((1, Block, 0), (setup.Statistics.Rents, setup.Statistics.RetainedBytes, setup.Statistics.Trims));
        stream.SetLength(40 * Block);
    }

    [Fact]
    public void Allocate_LimitNotHonored_IsServed()
    {
        using TestSetup setup = new(options: new MemoryAllocatorOptions { HonorMemoryLimit = false });
        Leave(setup, 0);
        setup.Allocator.Allocate<byte>(100 * Block).Dispose();
    }

    [Fact]
    public void Allocate_ServedByIdleMemory_DoesNotCheckTheLimit()
    {
        using TestSetup setup = new();
        setup.Allocator.AllocateGroup<byte>(4 * Block).Dispose();
        Leave(setup, 0);
        int reads = setup.Left.Reads;
        for (int i = 0; i < 100; i++)
        {
            setup.Allocator.Allocate<byte>(Block).Dispose();
            setup.Allocator.AllocateGroup<byte>(4 * Block).Dispose();
        }

        Assert.Equal(reads, setup.Left.Reads);
    }

    [Fact]
    public void Allocate_IdleMemoryInTheWay_IsReleasedFirst()
    {
        using TestSetup setup = new();
        setup.Allocator.AllocateGroup<byte>(8 * Block).Dispose();
        setup.Left.OnRead = () => LeftOf(setup, 10 * Block);
        setup.Clock.Advance(TimeSpan.FromSeconds(1));

        // Larger than the pool's blocks, so that idle ones are of no use to it.
        setup.Allocator.Allocate<byte>(20 * Block, AllocationOptions.Contiguous).Dispose();
        Assert.Equal(0, setup.Statistics.RetainedBytes);
    }

    [Fact]
    public void Allocate_IdleMemoryOfAnotherAllocator_IsReleasedToo()
    {
        using TestSetup idle = new();
        using TestSetup setup = new(sharesTimeWith: idle);
        idle.Allocator.AllocateGroup<byte>(8 * Block).Dispose();
        setup.Left.OnRead = () => LeftOf(idle, 6 * Block);
        setup.Clock.Advance(TimeSpan.FromSeconds(1));
        setup.Allocator.Allocate<byte>(5 * Block).Dispose();
        Assert.Equal(0, idle.Statistics.RetainedBytes);
    }

    [Fact]
    public void Allocate_RefusedAgainAndAgain_CollectsOnceASecond()
    {
        using TestSetup setup = new();
        Leave(setup, 0);
        setup.Clock.OnDelay = () => setup.Clock.Advance(TimeSpan.FromMilliseconds(5));
        for (int i = 0; i < 20; i++)
        {
            Assert.Throws<MemoryLimitExceededException>(() => setup.Allocator.Allocate<byte>(Block));
        }

        Assert.Equal(1, setup.Collections);

        // What finalizers bring back was waited for, once.
        Assert.InRange(setup.Clock.Delays.Count, 10, 25);
    }

    [Fact]
    public void Allocate_CollectionReturnsMemory_IsServed()
    {
        using TestSetup setup = new();
        Leave(setup, 0);
        setup.Clock.OnDelay = () =>
        {
            setup.Clock.Advance(TimeSpan.FromMilliseconds(5));
            Leave(setup, Block);
        };
        setup.Allocator.Allocate<byte>(Block).Dispose();
        Assert.Equal(1, setup.Collections);
    }

    [Fact]
    public async Task AllocateAsync_CollectionThatTakesLongReturnsMemory_DoesNotBlockItsThread()
    {
        using TestSetup setup = new();
        using ManualResetEventSlim isReturned = new();
        Leave(setup, 0);
        setup.OnCollect = () =>
        {
            isReturned.Wait(s_patience);
            Leave(setup, Block);
        };
        Task<IMemoryOwner<byte>> allocating = setup.Allocator.AllocateAsync<byte>(Block).AsTask();
        Assert.False(allocating.IsCompleted);
        isReturned.Set();
        (await allocating.WaitAsync(s_patience)).Dispose();
        Assert.Equal(1, setup.Collections);
    }

    [Fact]
    public async Task AllocateAsync_CollectionReturnsNothing_IsRefused()
    {
        using TestSetup setup = new();
        Leave(setup, 0);
        setup.Clock.OnDelay = () => setup.Clock.Advance(TimeSpan.FromMilliseconds(5));
        await Assert.ThrowsAsync<MemoryLimitExceededException>(
            () => setup.Allocator.AllocateAsync<byte>(Block).AsTask().WaitAsync(s_patience));
        Assert.Equal((1, 0), (setup.Collections, setup.Statistics.RentedBytes));
    }

    [Fact]
    public void Allocate_SmallUnderAnHonoredLimit_UsesCountedAndTrimmedArrays()
    {
        FakeHeadroom left = new() { Now = new Headroom(100 * Block, 50 * Block, 50 * Block) };
        using TestSetup setup = new(left: left);
        IMemoryOwner<byte> owner = setup.Allocator.Allocate<byte>(1000);
        Assert.Equal((1024, 1), (setup.Statistics.RentedBytes, setup.Statistics.OutstandingAllocations));
        owner.Dispose();
        Assert.Equal(1024, setup.Statistics.RetainedBytes);
        setup.Allocator.ReleaseRetainedResources();
        Assert.Equal(0, setup.Statistics.RetainedBytes);
    }

    [Fact]
    public async Task MinimumFree_NoRoom_WaitsUntilMemoryIsReturned()
    {
        using TestSetup setup = new(minimumFree: 2 * Block);
        setup.Left.OnRead = () => LeftOf(setup, 6 * Block);
        setup.Clock.Advance(TimeSpan.FromMilliseconds(10));
        IMemoryOwner<byte> held = setup.Allocator.Allocate<byte>(8 * Block);
        Task<IMemoryOwner<byte>> waiting = setup.Allocator.AllocateAsync<byte>(4 * Block).AsTask();
        Assert.False(waiting.IsCompleted);
        Assert.Throws<MemoryLimitExceededException>(() => setup.Allocator.Allocate<byte>(4 * Block));
        setup.Clock.Advance(TimeSpan.FromMilliseconds(10));
        held.Dispose();
        (await waiting).Dispose();
        Assert.Equal(0, setup.Statistics.BudgetUsedBytes);
    }

    [Fact]
    public async Task MinimumFree_RoomWithoutANotification_IsFound()
    {
        using TestSetup setup = new(minimumFree: 2 * Block);
        setup.Left.Now = new Headroom(100 * Block, 4 * Block, 50 * Block);
        setup.Clock.Advance(TimeSpan.FromMilliseconds(10));
        using IMemoryOwner<byte> held = setup.Allocator.Allocate<byte>(Block);
        Task<IMemoryOwner<byte>> waiting = setup.Allocator.AllocateAsync<byte>(4 * Block).AsTask();
        Assert.False(waiting.IsCompleted);

        // A neighbour ends.
        setup.Left.Now = new Headroom(100 * Block, 50 * Block, 50 * Block);
        setup.Clock.Advance(TimeSpan.FromMilliseconds(10));
        (await waiting).Dispose();
    }

    [Fact]
    public void MinimumFree_ThreadThatWaits_SleepsUntilRoomIsFound()
    {
        using TestSetup setup = new(
            options: new MemoryAllocatorOptions { BudgetTimeout = TimeSpan.FromSeconds(10) }, minimumFree: 2 * Block);
        setup.Left.Now = new Headroom(100 * Block, 4 * Block, 50 * Block);
        setup.Clock.Advance(TimeSpan.FromMilliseconds(10));
        using IMemoryOwner<byte> held = setup.Allocator.Allocate<byte>(Block);
        IMemoryOwner<byte>? owner = null;
        Exception? failure = null;
        Thread waiting = new(() => failure = Record.Exception(() => owner = setup.Allocator.Allocate<byte>(4 * Block)));
        waiting.Start();
        Assert.True(SpinWait.SpinUntil(() => setup.Clock.Waits == 1, TimeSpan.FromSeconds(30)), $"{setup.Clock.Waits} {failure}");
        Assert.Equal(TimeSpan.FromSeconds(10), setup.Clock.NextTimer);
        setup.Left.Now = new Headroom(100 * Block, 50 * Block, 50 * Block);
        setup.Clock.Advance(TimeSpan.FromMilliseconds(10));
        Assert.True(waiting.Join(TimeSpan.FromSeconds(30)));
        Assert.Equal(1, setup.Clock.Waits);
        owner!.Dispose();
    }

    [Fact]
    public async Task MinimumFree_NeverFits_FailsAtOnceInEveryCall()
    {
        using TestSetup setup = new(
            options: new MemoryAllocatorOptions { BudgetTimeout = Timeout.InfiniteTimeSpan }, minimumFree: 2 * Block);
        setup.Left.Now = new Headroom(10 * Block, 10 * Block, 10 * Block);
        setup.Clock.Advance(TimeSpan.FromMilliseconds(10));
        MemoryLimitExceededException failure = Assert.Throws<MemoryLimitExceededException>(
            () => setup.Allocator.Allocate<byte>(9 * Block));
        Assert.Contains(nameof(MemoryAllocatorOptions.MinimumFreeMegabytes), failure.Message);
        Assert.False(failure.IsTransient);
        await Assert.ThrowsAsync<MemoryLimitExceededException>(async () => await setup.Allocator.AllocateAsync<byte>(9 * Block));
        await Assert.ThrowsAsync<MemoryLimitExceededException>(async () => await setup.Allocator.ReserveAsync(9 * Block));
    }

    [Fact]
    public async Task MinimumFree_AboveAllThereIs_NamesALimitOfZeroAndTheOption()
    {
        using TestSetup setup = new(minimumFree: 30 * Block);
        setup.Left.Now = new Headroom(10 * Block, 10 * Block, 10 * Block);
        setup.Clock.Advance(TimeSpan.FromMilliseconds(10));
        MemoryLimitExceededException failure =
            await Assert.ThrowsAsync<MemoryLimitExceededException>(async () => await setup.Allocator.ReserveAsync(1));
        Assert.Equal((0L, 0L, false), (failure.LimitBytes, failure.AvailableBytes, failure.IsTransient));
        Assert.EndsWith(
            "(MemoryAllocatorOptions.MinimumFreeMegabytes), so the request never fits. "
                + "Make the job smaller, lower that minimum, or raise the limit.",
            failure.Message);
    }

    // As with the default options in a container: the caller set no minimum, and did call ReserveAsync.
    [Fact]
    public async Task ReserveAsync_NoRoomInTimeUnderTheContainersLimitAlone_NamesTheTimeoutAndNoOption()
    {
        FakeHeadroom left = new() { Now = new Headroom(10 * Block, 10 * Block, 10 * Block) { HardBytes = 10 * Block } };
        using TestSetup setup = new(left: left);
        using MemoryReservation held = await setup.Allocator.ReserveAsync(6 * Block);
        MemoryLimitExceededException late = await Assert.ThrowsAsync<MemoryLimitExceededException>(
            async () => await setup.Allocator.ReserveAsync(6 * Block, TimeSpan.Zero));
        Assert.True(late.IsTransient);
        Assert.EndsWith(
            "reserved by others. This call waits up to 00:00:00 (its timeout). Try again later, or allow more time.", late.Message);
        MemoryLimitExceededException never = await Assert.ThrowsAsync<MemoryLimitExceededException>(
            async () => await setup.Allocator.ReserveAsync(11 * Block));
        Assert.False(never.IsTransient);
        Assert.EndsWith("but the whole container is too small. Make the job smaller, or raise the container's limit.", never.Message);
    }

    [Fact]
    public async Task MinimumFree_NothingOutstanding_SucceedsOrFailsAtOnce()
    {
        using TestSetup setup = new(
            options: new MemoryAllocatorOptions { BudgetTimeout = Timeout.InfiniteTimeSpan }, minimumFree: 5 * Block);
        setup.Left.Now = new Headroom(20 * Block, 6 * Block, 20 * Block);
        setup.Clock.Advance(TimeSpan.FromMilliseconds(10));
        setup.Allocator.Allocate<byte>(6 * Block).Dispose();
        setup.Left.Now = new Headroom(20 * Block, 3 * Block, 20 * Block);
        setup.Clock.Advance(TimeSpan.FromSeconds(1));
        setup.Allocator.ReleaseRetainedResources();
        Task<MemoryReservation> refused = setup.Allocator.ReserveAsync(6 * Block).AsTask();
        MemoryLimitExceededException failure = await Assert.ThrowsAsync<MemoryLimitExceededException>(() => refused);
        Assert.True(failure.IsTransient);
        Assert.NotEqual(0, setup.Collections);
        Assert.Equal(0, setup.Statistics.BudgetUsedBytes);
    }

    [Fact]
    public async Task MinimumFree_NothingOutstandingAndACollectionMakesRoom_Succeeds()
    {
        using TestSetup setup = new(minimumFree: 5 * Block);
        setup.Left.OnRead = () => new Headroom(20 * Block, setup.Collections == 0 ? Block : 10 * Block, 20 * Block);
        setup.Clock.Advance(TimeSpan.FromMilliseconds(10));
        (await setup.Allocator.ReserveAsync(6 * Block)).Dispose();
    }

    [Fact]
    public async Task MinimumFree_ReservationsOfTwoAllocators_ShareTheContainer()
    {
        using TestSetup first = new(minimumFree: 2 * Block);
        using TestSetup second = new(sharesTimeWith: first, minimumFree: 2 * Block);
        first.Left.Now = new Headroom(100 * Block, 10 * Block, 50 * Block);
        first.Clock.Advance(TimeSpan.FromMilliseconds(10));
        for (int i = 0; i < 3; i++)
        {
            // Nothing tells the second allocator of what the first one has returned: the background thread looks, while any request waits.
            MemoryReservation held = await first.Allocator.ReserveAsync(6 * Block);
            Task<MemoryReservation> waiting = second.Allocator.ReserveAsync(3 * Block).AsTask();
            Assert.False(waiting.IsCompleted);
            held.Dispose();
            (await waiting.WaitAsync(s_patience)).Dispose();
        }
    }

    [Fact]
    public async Task MinimumFree_AnnouncedMemory_CountsUntilItIsReturned()
    {
        using TestSetup setup = new(minimumFree: 2 * Block);
        setup.Left.Now = new Headroom(100 * Block, 10 * Block, 50 * Block);
        setup.Clock.Advance(TimeSpan.FromMilliseconds(10));
        using MemoryReservation job = await setup.Allocator.ReserveAsync(6 * Block);
        IDisposable ofCodec = job.TrackExternalMemory(6 * Block);

        // Nothing of it is used yet.
        Task<MemoryReservation> waiting = setup.Allocator.ReserveAsync(3 * Block).AsTask();
        Assert.False(waiting.IsCompleted);
        ofCodec.Dispose();
        job.Dispose();
        (await waiting).Dispose();
    }

    [Fact]
    public void TrackExternalMemory_CertainlyDoesNotFitTheContainer_IsRefusedWithoutABudget()
    {
        using TestSetup setup = new();
        Leave(setup, 3 * Block);
        MemoryLimitExceededException failure = Assert.Throws<MemoryLimitExceededException>(
            () => setup.Allocator.TrackExternalMemory(4 * Block));
        Assert.Equal(
            (4L * Block, 100L * Block, 3L * Block, true),
            (failure.RequestedBytes, failure.LimitBytes, failure.AvailableBytes, failure.IsTransient));
        setup.Allocator.TrackExternalMemory(3 * Block).Dispose();
    }

    [Fact]
    public void TrackExternalMemory_WithoutABudget_CountsUntilItIsReturned()
    {
        using TestSetup setup = new();
        Leave(setup, 4 * Block);
        IDisposable ofCodec = setup.Allocator.TrackExternalMemory(3 * Block);
        Assert.Throws<MemoryLimitExceededException>(() => setup.Allocator.AllocateGroup<byte>(2 * Block));
        ofCodec.Dispose();
        setup.Allocator.AllocateGroup<byte>(2 * Block).Dispose();
    }

    [Fact]
    public void TrackExternalMemory_LimitNotHonored_IsServed()
    {
        using TestSetup setup = new(options: new MemoryAllocatorOptions { HonorMemoryLimit = false });
        Leave(setup, 0);
        setup.Allocator.TrackExternalMemory(100 * Block).Dispose();
    }

    [Fact]
    public async Task MinimumFree_JobThatReserved_NeverWaits()
    {
        using TestSetup setup = new(minimumFree: 2 * Block);
        setup.Left.Now = new Headroom(100 * Block, 10 * Block, 50 * Block);
        setup.Clock.Advance(TimeSpan.FromMilliseconds(10));
        using MemoryReservation reservation = await setup.Allocator.ReserveAsync(8 * Block);

        // Others have taken what was left.
        setup.Left.Now = new Headroom(100 * Block, Block, 20 * Block);
        setup.Clock.Advance(TimeSpan.FromSeconds(1));
        reservation.AllocateGroup<byte>(8 * Block).Dispose();
    }

    // By the call that is refused, where a minimum must stay free and there is no budget.
    private static readonly Dictionary<string, Action<MemoryAllocator>> s_refused = new()
    {
        ["Allocate"] = static a => a.Allocate<byte>(4 * Block),
        ["Allocate, never"] = static a => a.Allocate<byte>(99 * Block),
        ["AllocateGroup"] = static a => a.AllocateGroup<byte>(4 * Block),
        ["AllocatePixels"] = static a => a.AllocatePixels<byte>(Block, 99),
        ["ReserveAsync"] = static a => Wait(a.ReserveAsync(4 * Block, TimeSpan.Zero)),
        ["ReserveAsync, never"] = static a => Wait(a.ReserveAsync(99 * Block)),
        ["ReserveAsync, name"] = static a => Wait(a.ReserveAsync("job", 1, TimeSpan.Zero)),
        ["Reservation, Allocate"] = static a => Reserve(a).Allocate<byte>(4 * Block),
        ["Reservation, Allocate, never"] = static a => Reserve(a).Allocate<byte>(99 * Block),
        ["Reservation, GrowAsync"] = static a => Reserve(a).GrowAsync(99 * Block).AsTask().GetAwaiter().GetResult(),
        ["TrackExternalMemory"] = static a => a.TrackExternalMemory(4 * Block),
        ["TrackExternalMemory, never"] = static a => a.TrackExternalMemory(99 * Block),
        ["AsArrayPool"] = static a => a.AsArrayPool().Rent(4 * Block),
        ["AsMemoryPool"] = static a => a.AsMemoryPool<byte>().Rent(4 * Block),
        ["CreateStream"] = static a => a.CreateStream(99 * Block),
        ["Stream, SetLength"] = static a => Stream(a).SetLength(99 * Block),
        ["Stream, Write"] = static a => Stream(a).Write(new byte[4 * Block]),
        ["Stream, SetLength, longest"] = static a => Stream(a).SetLength(long.MaxValue),
    };

    public static TheoryData<string> Refused => [.. s_refused.Keys];

    /// <summary>Nobody has set a budget of 9,223,372,036,854,775,807 bytes.</summary>
    [Theory]
    [MemberData(nameof(Refused))]
    public void MinimumFree_ACallIsRefused_TheMessageNamesNoBudget(string call)
    {
        using TestSetup setup = new(minimumFree: 2 * Block);
        setup.Left.Now = new Headroom(100 * Block, 4 * Block, 50 * Block);
        setup.Clock.Advance(TimeSpan.FromMilliseconds(10));
        using IMemoryOwner<byte> held = setup.Allocator.Allocate<byte>(Block);
        MemoryLimitExceededException failure = Assert.Throws<MemoryLimitExceededException>(() => s_refused[call](setup.Allocator));
        Assert.DoesNotContain("budget", failure.Message, StringComparison.OrdinalIgnoreCase);
        Assert.InRange(failure.LimitBytes, 1, 1L << 40);
    }

    [Fact]
    public void Tick_HighLoadWhereALimitIsSet_IsNoticedWithinASecond()
    {
        using TestSetup setup = new(minimumFree: Block, watchesLoad: true);
        setup.Allocator.AllocateGroup<byte>(4 * Block).Dispose();
        setup.Pressure.IsHigh = true;
        setup.Clock.Advance(TimeSpan.FromSeconds(1));
        Assert.Equal(0, setup.Statistics.RetainedBytes);
    }

    private static void Wait(ValueTask<MemoryReservation> reserving) => reserving.AsTask().GetAwaiter().GetResult().Dispose();

    private static MemoryReservation Reserve(MemoryAllocator allocator) =>
        allocator.ReserveAsync(Block).AsTask().GetAwaiter().GetResult();

    private static PooledMemoryStream Stream(MemoryAllocator allocator)
    {
        PooledMemoryStream stream = allocator.CreateStream();
        stream.WriteByte(1);
        return stream;
    }

    private static void Leave(TestSetup setup, long bytes)
    {
        setup.Left.Now = new Headroom(100 * Block, bytes, bytes);
        setup.Clock.Advance(TimeSpan.FromSeconds(1));
    }

    // Of so many bytes in all, what its allocator has not committed.
    private static Headroom LeftOf(TestSetup setup, long bytes)
    {
        long left = (2 * bytes) - setup.Statistics.CommittedBytes;
        return new Headroom(100 * Block, left, left);
    }
}
