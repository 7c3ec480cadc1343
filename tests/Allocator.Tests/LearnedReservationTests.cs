using Allocator.Budgeting;

namespace Allocator.Tests;

/// <summary>Reservations by name. In blocks of 16 KiB, of which four are the smallest step.</summary>
public class LearnedReservationTests
{
    private const int Block = TestSetup.BlockSize;

    private static readonly TimeSpan s_patience = TimeSpan.FromSeconds(30);

    [Theory]
    [InlineData(null)]
    [InlineData(32L * Block)]
    public async Task ReserveAsync_JobsHaveEnded_ReservesWhatTheyNeeded(long? budget)
    {
        using TestSetup setup = new(maximumBlocks: 64, budget: budget);
        using (MemoryReservation first = await setup.Allocator.ReserveAsync("thumbnails"))
        {
            Assert.Equal(budget / 2 ?? 4 * Block, first.ReservedBytes);
        }

        await TeachAsync(setup.Allocator, "thumbnails", 8 * Block);
        using MemoryReservation learned = await setup.Allocator.ReserveAsync("thumbnails");
        Assert.Equal((8L * Block, 8L * Block), (learned.ReservedBytes, learned.RemainingBytes));
        Assert.True(setup.Allocator.TryReserve("thumbnails", out MemoryReservation? second));
        Assert.Equal((8L * Block, budget is null ? 0 : 16 * Block), (second.ReservedBytes, setup.Statistics.BudgetUsedBytes));
        second.Dispose();
        using MemoryReservation other = await setup.Allocator.ReserveAsync("");
        Assert.Equal(budget is null ? 4 * Block : 12 * Block, other.ReservedBytes);
    }

    // Each that waits would else reserve what was known when it came: half of the budget.
    [Fact]
    public async Task ReserveAsync_JobsEndWhileItWaits_ReservesWhatIsKnownThen()
    {
        using TestSetup setup = new(maximumBlocks: 64, budget: 32 * Block);
        MemoryReservation first = await setup.Allocator.ReserveAsync("thumbnails");
        first.Allocate<byte>(4 * Block).Dispose();
        Task<MemoryReservation>[] waiting = [.. Enumerable.Range(0, 8).Select(_ => setup.Allocator.ReserveAsync("thumbnails").AsTask())];
        Assert.DoesNotContain(waiting, static task => task.IsCompleted);
        first.Dispose();

        // Two at once, until eight have ended.
        MemoryReservation second = await waiting[0].WaitAsync(s_patience);
        MemoryReservation third = await waiting[1].WaitAsync(s_patience);
        Assert.Equal((4L * Block, 4L * Block), (second.ReservedBytes, third.ReservedBytes));
        Assert.Equal(8 * Block, setup.Statistics.BudgetUsedBytes);
        foreach (Task<MemoryReservation> job in waiting)
        {
            using MemoryReservation next = await job.WaitAsync(s_patience);
            Assert.Equal(4 * Block, next.ReservedBytes);
        }

        Assert.Equal(0, setup.Statistics.BudgetUsedBytes);
    }

    [Fact]
    public async Task ReserveAsync_JobsOfOtherSizes_ReservesWhatTheirSizeNeeds()
    {
        using TestSetup setup = new(maximumBlocks: 64, budget: 64 * Block);
        await TeachAsync(setup.Allocator, "thumbnails", 4 * Block, size: 1000);
        await TeachAsync(setup.Allocator, "thumbnails", 32 * Block, size: 8000);
        using (MemoryReservation small = await setup.Allocator.ReserveAsync("thumbnails", 900))
        using (MemoryReservation medium = await setup.Allocator.ReserveAsync("thumbnails", 2000))
        {
            Assert.Equal((4L * Block, 8L * Block), (small.ReservedBytes, medium.ReservedBytes));
            Assert.False(setup.Allocator.TryReserve("thumbnails", 8000, out _));
        }

        Assert.True(setup.Allocator.TryReserve("thumbnails", 8000, out MemoryReservation? large));
        Assert.Equal(32 * Block, large.ReservedBytes);
        large.Dispose();
        using MemoryReservation timed = await setup.Allocator.ReserveAsync("thumbnails", 500, TimeSpan.Zero);
        Assert.Equal(4 * Block, timed.ReservedBytes);
    }

    // What is kept for good, by a cache for instance, is no room, and no reason to wait.
    [Fact]
    public async Task ReserveAsync_ACacheStaysOutstanding_IsAdmittedByWhatIsLeft()
    {
        using TestSetup setup = new(maximumBlocks: 256, budget: 200 * Block);
        using IMemoryOwner<byte> cache = setup.Allocator.Allocate<byte>(60 * Block);
        using (MemoryReservation first = await setup.Allocator.ReserveAsync("thumbnails", TimeSpan.Zero))
        {
            Assert.Equal(70 * Block, first.ReservedBytes);
            using MemoryReservation unrelated = await setup.Allocator.ReserveAsync(Block, TimeSpan.Zero);
            first.Allocate<byte>(40 * Block).Dispose();
        }

        using MemoryReservation second = await setup.Allocator.ReserveAsync("thumbnails", TimeSpan.Zero);
        using MemoryReservation third = await setup.Allocator.ReserveAsync("thumbnails", TimeSpan.Zero);
        Assert.Equal((40L * Block, 40L * Block), (second.ReservedBytes, third.ReservedBytes));
        Assert.True(second.TryGrow(60 * Block));
    }

    [Fact]
    public async Task ReserveAsync_EarlierJobsOnlyTriedToGrow_ReservesWhatTheyUsed()
    {
        using TestSetup setup = new(maximumBlocks: 64, budget: 32 * Block);
        using CancellationTokenSource end = new();
        using (MemoryReservation job = await setup.Allocator.ReserveAsync("thumbnails"))
        {
            job.Allocate<byte>(4 * Block).Dispose();
            using MemoryReservation others = await setup.Allocator.ReserveAsync(10 * Block);
            Assert.False(job.TryGrow(8 * Block));
            Task growing = job.GrowAsync(8 * Block, end.Token).AsTask();
            Task<IMemoryOwner<byte>> allocating = job.AllocateAsync<byte>(24 * Block, cancellationToken: end.Token).AsTask();
            using (job.Use())
            {
                Assert.False(setup.Allocator.TryReserve(24 * Block, out _));
                await Assert.ThrowsAsync<MemoryLimitExceededException>(
                    async () => await setup.Allocator.ReserveAsync(24 * Block, TimeSpan.Zero));
            }

            end.Cancel();
            await Assert.ThrowsAnyAsync<OperationCanceledException>(() => growing);
            await Assert.ThrowsAnyAsync<OperationCanceledException>(() => allocating);
        }

        using MemoryReservation next = await setup.Allocator.ReserveAsync("thumbnails");
        Assert.Equal(4 * Block, next.ReservedBytes);
    }

    // An allocation that fails ends most jobs.
    [Fact]
    public async Task ReserveAsync_AnEarlierJobsAllocationFailed_ReservesWhatItNeeded()
    {
        using TestSetup setup = new(maximumBlocks: 64, budget: 32 * Block, options: new() { BudgetTimeout = TimeSpan.Zero });
        using (await setup.Allocator.ReserveAsync(16 * Block))
        using (MemoryReservation job = await setup.Allocator.ReserveAsync("thumbnails"))
        {
            setup.Clock.OnWait = () => setup.Clock.Advance(TimeSpan.FromSeconds(31));
            using IMemoryOwner<byte> used = job.Allocate<byte>(4 * Block);
            Assert.Throws<MemoryLimitExceededException>(() => job.Allocate<byte>(16 * Block));
        }

        using MemoryReservation next = await setup.Allocator.ReserveAsync("thumbnails");
        Assert.Equal(20 * Block, next.ReservedBytes);
        Assert.Contains("after 1 jobs, 1 of them refused", setup.Allocator.DescribeMemory());
    }

    [Fact]
    public async Task ReserveAsync_EarlierJobUsedNothing_ReservesTheSmallestStep()
    {
        using TestSetup setup = new(maximumBlocks: 64, budget: 32 * Block);
        (await setup.Allocator.ReserveAsync("streams")).Dispose();
        using MemoryReservation next = await setup.Allocator.ReserveAsync("streams");
        Assert.Equal(4 * Block, next.ReservedBytes);
    }

    [Fact]
    public async Task ReserveAsync_CancelledOrDisposedWhileItWaits_LeavesNothing()
    {
        using TestSetup setup = new(maximumBlocks: 64, budget: 32 * Block);
        using CancellationTokenSource end = new();
        MemoryReservation running = await setup.Allocator.ReserveAsync("thumbnails");
        Task<MemoryReservation> cancelled = setup.Allocator.ReserveAsync("thumbnails", end.Token).AsTask();
        Assert.False(setup.Allocator.TryReserve("thumbnails", out _));
        Assert.False(cancelled.IsCompleted);
        end.Cancel();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => cancelled.WaitAsync(s_patience));
        Assert.Equal(16 * Block, setup.Statistics.BudgetUsedBytes);
        Task<MemoryReservation> closed = setup.Allocator.ReserveAsync("thumbnails").AsTask();
        setup.Dispose();
        await Assert.ThrowsAsync<ObjectDisposedException>(() => closed.WaitAsync(s_patience));
        running.Dispose();
        Assert.Equal(0, setup.Statistics.BudgetUsedBytes);
    }

    // Where the container has a limit, there is something to wait for. The runtime may take a 16th of it, and page tables a 200th.
    [Fact]
    public async Task ReserveAsync_NoNumberInALimitedContainer_GatesJobsByWhatIsLeft()
    {
        FakeHeadroom left = new() { Now = Container(used: 0) };
        using TestSetup setup = new(maximumBlocks: 512, left: left);
        const long Usable = (400 * Block) - (25 * Block) - (2 * Block);
        // Outstanding, and no part of any job.
        using IMemoryOwner<byte> cache = setup.Allocator.Allocate<byte>(73 * Block);
        left.Now = Container(used: 73);
        setup.Clock.Advance(TimeSpan.FromSeconds(2));
        MemoryReservation job = await setup.Allocator.ReserveAsync("thumbnails");
        Assert.Equal((Usable - (73 * Block)) / 2, job.ReservedBytes);
        Assert.Contains("  waiting      0 requests now", setup.Allocator.DescribeMemory());
        Assert.False(setup.Allocator.TryReserve("thumbnails", out _));
        Assert.False(setup.Allocator.TryReserve("other", out _));

        // What other code takes is its use, too.
        left.Now = Container(used: 73 + 100);
        setup.Clock.Advance(TimeSpan.FromMilliseconds(5));
        left.Now = Container(used: 73);
        setup.Clock.Advance(TimeSpan.FromMilliseconds(5));
        Assert.Equal(100 * Block, job.PeakElsewhereBytes);
        job.Dispose();
        Assert.Contains("thumbnails: 0 MiB, elsewhere 1.56 MiB after 1 jobs, 0 of them refused", setup.Allocator.DescribeMemory());

        static Headroom Container(int used)
        {
            long free = (400L - used) * Block;
            return new Headroom(400L * Block, free, free) { HardBytes = 400L * Block };
        }
    }

    // Nothing else has started the thread that reads what the job takes elsewhere. In a process of its own: there is one for all allocators.
    [Fact]
    public void ReserveAsync_FirstOfAProcessInALimitedContainer_IsWatched() => RemoteExecutor.Invoke(static () =>
    {
        FakeHeadroom left = new() { Now = new Headroom(400L * Block, 400L * Block, 400L * Block) { HardBytes = 400L * Block } };
        using TestSetup setup = new(left: left);
        Assert.False(BackgroundThread.Shared.IsRunning);
        ValueTask<MemoryReservation> job = setup.Allocator.ReserveAsync("thumbnails");
        Assert.True(job.IsCompletedSuccessfully && BackgroundThread.Shared.IsRunning);
    }).Dispose();

    [Fact]
    public async Task Dispose_NoNumberInALimitedContainer_EndsTheWaitsOfJobs()
    {
        FakeHeadroom left = new() { Now = new Headroom(400L * Block, 400L * Block, 400L * Block) { HardBytes = 400L * Block } };
        using TestSetup setup = new(maximumBlocks: 512, left: left);
        using MemoryReservation running = await setup.Allocator.ReserveAsync("thumbnails");
        Task<MemoryReservation> waiting = setup.Allocator.ReserveAsync("thumbnails").AsTask();
        Assert.False(waiting.IsCompleted);
        setup.Allocator.Dispose();
        await Assert.ThrowsAsync<ObjectDisposedException>(() => waiting.WaitAsync(s_patience));
    }

    // It is admitted, and counts among what the job holds, until it is refused.
    [Fact]
    public async Task ReserveAsync_TheContainerRefusedAnEarlierJob_ReservesWhatItNeeded()
    {
        FakeHeadroom left = new() { Now = new Headroom(400L * Block, 400L * Block, 400L * Block) { HardBytes = 400L * Block } };
        using TestSetup setup = new(maximumBlocks: 512, budget: 300 * Block, left: left);
        using (MemoryReservation job = await setup.Allocator.ReserveAsync("thumbnails"))
        using (job.Allocate<byte>(10 * Block))
        {
            left.Now = left.Now with { FreeBytes = 0, CertainBytes = 0 };
            setup.Clock.Advance(TimeSpan.FromSeconds(2));
            Assert.Throws<MemoryLimitExceededException>(() => job.Allocate<byte>(60 * Block));
        }

        left.Now = new Headroom(400L * Block, 400L * Block, 400L * Block) { HardBytes = 400L * Block };
        setup.Clock.Advance(TimeSpan.FromSeconds(2));
        using MemoryReservation next = await setup.Allocator.ReserveAsync("thumbnails");
        Assert.Equal(72 * Block, next.ReservedBytes);
    }

    [Fact]
    public async Task ReserveAsync_NothingOfAReservation_IsGranted()
    {
        using TestSetup setup = new(budget: 8 * Block);
        using MemoryReservation job = await setup.Allocator.ReserveAsync(4 * Block);
        using MemoryReservation part = await job.ReserveAsync(0);
        Assert.True(job.TryReserve(0, out MemoryReservation? other));
        other.Dispose();
        Assert.Equal((4L * Block, 4L * Block), (job.RemainingBytes, setup.Statistics.BudgetUsedBytes));
    }

    // What waits, waits until it is known what the first has left behind.
    [Fact]
    public void TryReserve_RightAfterTheFirstJobInALimitedContainer_IsServed()
    {
        FakeHeadroom left = new() { Now = new Headroom(400L * Block, 400L * Block, 400L * Block) { HardBytes = 400L * Block } };
        using TestSetup setup = new(left: left);
        for (int i = 0; i < 4; i++)
        {
            Assert.True(setup.Allocator.TryReserve("thumbnails", out MemoryReservation? job));
            job.Dispose();
        }
    }

    // It would wait for ever: no end of another job could make room for it.
    [Theory]
    [InlineData(401)]
    [InlineData(374)]
    public async Task ReserveAsync_MoreThanALimitedContainerHas_IsRefusedAtOnce(int blocks)
    {
        FakeHeadroom left = new() { Now = new Headroom(400L * Block, 400L * Block, 400L * Block) { HardBytes = 400L * Block } };
        using TestSetup setup = new(maximumBlocks: 512, left: left);
        ValueTask<MemoryReservation> reserving = setup.Allocator.ReserveAsync(blocks * Block);
        Assert.True(reserving.IsCompleted, "It waits for ever.");
        MemoryLimitExceededException failure = await Assert.ThrowsAsync<MemoryLimitExceededException>(async () => await reserving);
        Assert.False(failure.IsTransient);
        using MemoryReservation largest = await setup.Allocator.ReserveAsync(373 * Block, TimeSpan.Zero);
    }

    [Fact]
    public async Task ReserveAsync_NoNumberAndNoLimit_GatesNothing()
    {
        using TestSetup setup = new(maximumBlocks: 64);
        using MemoryReservation first = await setup.Allocator.ReserveAsync("thumbnails", TimeSpan.Zero);
        using MemoryReservation second = await setup.Allocator.ReserveAsync("thumbnails", TimeSpan.Zero);
        Assert.Equal((4L * Block, 4L * Block), (first.ReservedBytes, second.ReservedBytes));
    }

    [Fact]
    public async Task GrowAsync_OfALearnedReservationUpToTwice_GoesAheadOfNewcomers()
    {
        using TestSetup setup = new(maximumBlocks: 64, budget: 32 * Block);
        (MemoryReservation learned, MemoryReservation running) = await FillAsync(setup.Allocator);
        Task<MemoryReservation> newcomer = setup.Allocator.ReserveAsync(28 * Block).AsTask();
        Task growing = learned.GrowAsync(4 * Block).AsTask();
        running.Dispose();
        await growing.WaitAsync(s_patience);
        Assert.Equal((8L * Block, 8L * Block), (learned.ReservedBytes, setup.Statistics.BudgetUsedBytes));
        learned.Dispose();
        (await newcomer.WaitAsync(s_patience)).Dispose();
    }

    // The claims of all jobs that began before the first large one are too small. Behind newcomers each of them would get a part of what
    // it needs, and newcomers the rest.
    [Fact]
    public async Task GrowAsync_OfALearnedReservationInItsFirstMinute_GoesAheadOfNewcomersHoweverLarge()
    {
        using TestSetup setup = new(maximumBlocks: 64, budget: 32 * Block);
        (MemoryReservation learned, MemoryReservation running) = await FillAsync(setup.Allocator);
        Task<MemoryReservation> newcomer = setup.Allocator.ReserveAsync(32 * Block).AsTask();
        for (int i = 0; i < 24; i++)
        {
            Task growing = learned.GrowAsync(Block).AsTask();
            running.Dispose();
            await growing.WaitAsync(s_patience);
        }

        Assert.False(newcomer.IsCompleted);
        learned.Dispose();
        (await newcomer.WaitAsync(s_patience)).Dispose();
    }

    [Fact]
    public async Task GrowAsync_PostedInTheFirstMinuteAndServedLater_GoesAheadOfAnEarlierNewcomerThatFits()
    {
        using TestSetup setup = new(maximumBlocks: 64, budget: 32 * Block);
        (MemoryReservation learned, MemoryReservation running) = await FillAsync(setup.Allocator);
        Task<MemoryReservation> newcomer = setup.Allocator.ReserveAsync(20 * Block).AsTask();
        Task growing = learned.GrowAsync(12 * Block).AsTask();
        setup.Clock.Advance(TimeSpan.FromMinutes(2));
        running.Dispose();
        await growing.WaitAsync(s_patience);
        Assert.False(newcomer.IsCompleted);
        learned.Dispose();
        (await newcomer.WaitAsync(s_patience)).Dispose();
    }

    // Growth up to twice is what a job was promised.
    [Fact]
    public async Task GrowAsync_UpToTwiceBesideYoungJobsThatGrowAgainAndAgain_IsPassedSixteenTimesAtMost()
    {
        using TestSetup setup = new(maximumBlocks: 64, budget: 32 * Block);
        await TeachAsync(setup.Allocator, "tiny", Block);
        MemoryReservation large = await setup.Allocator.ReserveAsync(12 * Block);
        using MemoryReservation first = await setup.Allocator.ReserveAsync("tiny");
        using MemoryReservation second = await setup.Allocator.ReserveAsync("tiny");
        IMemoryOwner<byte> ofFirst = first.Allocate<byte>(10 * Block);
        IMemoryOwner<byte> ofSecond = second.Allocate<byte>(10 * Block);
        Task promised = large.GrowAsync(12 * Block).AsTask();
        int passed = 0;
        Task<IMemoryOwner<byte>> again;
        while (true)
        {
            again = first.AllocateAsync<byte>(10 * Block).AsTask();
            ofFirst.Dispose();
            if (setup.Statistics.BudgetUsedBytes < 32 * Block)
            {
                break;
            }

            passed++;
            ofFirst = await again.WaitAsync(s_patience);
        }

        // From here on what comes back is kept.
        ofSecond.Dispose();
        await promised.WaitAsync(s_patience);
        large.Dispose();
        (await again.WaitAsync(s_patience)).Dispose();
        Assert.Equal(BudgetQueue.MaximumOvertakes, passed);
    }

    [Fact]
    public async Task GrowAsync_OfALearnedReservationAfterAMinute_IsANewcomerBeyondTwice()
    {
        using TestSetup setup = new(maximumBlocks: 64, budget: 32 * Block);
        (MemoryReservation learned, MemoryReservation running) = await FillAsync(setup.Allocator);
        setup.Clock.Advance(TimeSpan.FromMinutes(1));
        Task<MemoryReservation> newcomer = setup.Allocator.ReserveAsync(20 * Block).AsTask();
        Task growing = learned.GrowAsync(12 * Block).AsTask();
        running.Dispose();
        using (await newcomer.WaitAsync(s_patience))
        {
            Assert.False(growing.IsCompleted);
        }

        await growing.WaitAsync(s_patience);
        Assert.Equal((16L * Block, 16L * Block), (learned.ReservedBytes, setup.Statistics.BudgetUsedBytes));
        learned.Dispose();
    }

    // A synchronous request of another kind would be refused at once.
    [Fact]
    public async Task Allocate_OfALearnedReservationBeyondItsSize_WaitsForOthers()
    {
        using TestSetup setup = new(maximumBlocks: 64, budget: 32 * Block);
        (MemoryReservation learned, MemoryReservation running) = await FillAsync(setup.Allocator);
        Task<IMemoryOwner<byte>> allocating = Task.Run(() => learned.Allocate<byte>(12 * Block));
        Assert.True(SpinWait.SpinUntil(() => setup.Statistics.BudgetWaits == 1, s_patience));
        running.Dispose();
        (await allocating.WaitAsync(s_patience)).Dispose();
        Assert.Equal(12 * Block, learned.PeakUsedBytes);
        learned.Dispose();
    }

    [Fact]
    public async Task Allocate_AllThatHoldMemoryWait_FailsTheYoungestAndRemembersItsNeed()
    {
        using TestSetup setup = new(maximumBlocks: 64, budget: 32 * Block);
        await TeachAsync(setup.Allocator, "thumbnails", 8 * Block);
        MemoryReservation older = await setup.Allocator.ReserveAsync("thumbnails");
        MemoryReservation younger = await setup.Allocator.ReserveAsync("thumbnails");
        Task<IMemoryOwner<byte>> failing;
        Task growing;
        using (MemoryReservation running = await setup.Allocator.ReserveAsync(16 * Block))
        {
            IMemoryOwner<byte> used = younger.Allocate<byte>(8 * Block);
            growing = older.GrowAsync(16 * Block).AsTask();
            failing = Task.Run(() => UseBoth(used, younger));
            Assert.True(SpinWait.SpinUntil(() => setup.Statistics.BudgetWaits == 2, s_patience));
        }

        await growing.WaitAsync(s_patience);
        Assert.False(failing.IsCompleted);
        Task more = older.GrowAsync(4 * Block).AsTask();
        MemoryLimitExceededException failure =
            await Assert.ThrowsAsync<MemoryLimitExceededException>(() => failing.WaitAsync(s_patience));
        Assert.True(failure.IsTransient);
        Assert.EndsWith("Try again: from now on, jobs of its name reserve more.", failure.Message);
        Assert.False(more.IsCompleted);
        younger.Dispose();
        await more.WaitAsync(s_patience);
        older.Dispose();
        using MemoryReservation next = await setup.Allocator.ReserveAsync("thumbnails", TimeSpan.Zero);
        Assert.Equal(24 * Block, next.ReservedBytes);
        Assert.Contains("thumbnails: 0.38 MiB, elsewhere 0 MiB after 18 jobs, 1 of them refused", setup.Allocator.DescribeMemory());

        static IMemoryOwner<byte> UseBoth(IMemoryOwner<byte> used, MemoryReservation reservation)
        {
            using (used)
            {
                return reservation.Allocate<byte>(16 * Block);
            }
        }
    }

    // It would make all later jobs of its name run alone, with all that there is, and in vain.
    [Fact]
    public async Task Allocate_AJobThatNeverFits_IsRefusedForGoodAndTeachesWhatItUsed()
    {
        using TestSetup setup = new(maximumBlocks: 64, budget: 32 * Block);
        using (MemoryReservation job = await setup.Allocator.ReserveAsync("thumbnails"))
        using (job.Allocate<byte>(20 * Block))
        {
            MemoryLimitExceededException failure = Assert.Throws<MemoryLimitExceededException>(() => job.Allocate<byte>(16 * Block));
            Assert.False(failure.IsTransient);
            Assert.EndsWith("It never fits. Make the job smaller, or raise the limit.", failure.Message);
        }

        using MemoryReservation next = await setup.Allocator.ReserveAsync("thumbnails", TimeSpan.Zero);
        Assert.Equal(20 * Block, next.ReservedBytes);
        using MemoryReservation other = await setup.Allocator.ReserveAsync("other", TimeSpan.Zero);
        Assert.Contains("thumbnails: 0.31 MiB, elsewhere 0 MiB after 1 jobs, 1 of them refused", setup.Allocator.DescribeMemory());
    }

    [Fact]
    public async Task Allocate_NeedFitsTheBudgetAndNeverTheContainer_IsRefusedForGood()
    {
        FakeHeadroom left = new() { Now = new Headroom(40 * Block, 40 * Block, 40 * Block) };
        using TestSetup setup = new(maximumBlocks: 64, budget: 60 * Block, minimumFree: 2 * Block, left: left);
        using MemoryReservation job = await setup.Allocator.ReserveAsync("thumbnails");
        using IMemoryOwner<byte> used = job.Allocate<byte>(20 * Block);
        setup.Clock.OnWait = () => setup.Clock.Advance(TimeSpan.FromMinutes(1));
        MemoryLimitExceededException failure = Assert.Throws<MemoryLimitExceededException>(() => job.Allocate<byte>(25 * Block));
        Assert.False(failure.IsTransient, failure.Message);
        Assert.EndsWith("It never fits. Make the job smaller, or raise the limit.", failure.Message);
    }

    // Scaled up from a smaller size, a claim may be more than there is. Such a job runs, alone.
    [Theory]
    [InlineData(32L * Block, 0)]
    [InlineData(null, 8L * Block)]
    public async Task ReserveAsync_ClaimIsMoreThanThereIsAndNoRoomInTime_IsRefusedAsTransient(long? budget, long minimumFree)
    {
        FakeHeadroom left = new() { Now = new Headroom(40 * Block, 40 * Block, 40 * Block) };
        using TestSetup setup = new(maximumBlocks: 64, budget: budget, minimumFree: minimumFree, left: minimumFree == 0 ? null : left);
        await TeachAsync(setup.Allocator, "thumbnails", 12 * Block, size: 1000);
        using (await setup.Allocator.ReserveAsync("thumbnails", 1000))
        {
            MemoryLimitExceededException failure = await Assert.ThrowsAsync<MemoryLimitExceededException>(
                async () => await setup.Allocator.ReserveAsync("thumbnails", 4000, TimeSpan.Zero));
            Assert.True(failure.IsTransient, failure.Message);
            Assert.DoesNotContain("never fits", failure.Message);
        }

        using MemoryReservation alone = await setup.Allocator.ReserveAsync("thumbnails", 4000, TimeSpan.Zero);
    }

    [Fact]
    public async Task ReserveAsync_NameOfAMegabyteOrEmpty_IsANameLikeAnyOther()
    {
        using TestSetup setup = new(maximumBlocks: 64, budget: 32 * Block);
        string longName = new('x', 1 << 20);
        await TeachAsync(setup.Allocator, longName, 8 * Block);
        await TeachAsync(setup.Allocator, "", 4 * Block);
        using MemoryReservation first = await setup.Allocator.ReserveAsync(longName, TimeSpan.Zero);
        using MemoryReservation second = await setup.Allocator.ReserveAsync("", TimeSpan.Zero);
        Assert.Equal((8L * Block, 4L * Block), (first.ReservedBytes, second.ReservedBytes));
        Assert.InRange(setup.Allocator.DescribeMemory().Length, 1, 10_000);
    }

    [Fact]
    public void ReserveAsync_NullOrADisposedAllocator_Throws()
    {
        using TestSetup setup = new(budget: 32 * Block);
        Assert.Throws<ArgumentNullException>("job", () => { _ = setup.Allocator.ReserveAsync(null!); });
        Assert.Throws<ArgumentNullException>("job", () => setup.Allocator.TryReserve(null!, out _));
        Assert.Throws<ArgumentOutOfRangeException>("size", () => { _ = setup.Allocator.ReserveAsync("x", size: 0); });
        Assert.Throws<ArgumentOutOfRangeException>("size", () => { _ = setup.Allocator.ReserveAsync("x", -1, TimeSpan.Zero); });
        Assert.Throws<ArgumentOutOfRangeException>("size", () => setup.Allocator.TryReserve("x", 0, out _));
        Assert.Throws<ArgumentOutOfRangeException>(
            "timeout", () => { _ = setup.Allocator.ReserveAsync("x", TimeSpan.FromSeconds(-2)); });
        setup.Dispose();
        Assert.Throws<ObjectDisposedException>(() => setup.Allocator.TryReserve("x", out _));
        Assert.True(setup.Allocator.ReserveAsync("x").AsTask().IsFaulted);
    }

    [Fact]
    public async Task ReserveAsync_NoRoomInTime_IsRefusedAsTransient()
    {
        using TestSetup setup = new(budget: 32 * Block);
        using MemoryReservation first = await setup.Allocator.ReserveAsync("x");
        Assert.False(setup.Allocator.TryReserve("x", out _));
        using CancellationTokenSource end = new();
        Task<MemoryReservation> earlier = setup.Allocator.ReserveAsync("x", end.Token).AsTask();
        Task<MemoryReservation> late = setup.Allocator.ReserveAsync("x", TimeSpan.FromSeconds(1)).AsTask();
        setup.Clock.Advance(TimeSpan.FromSeconds(1));
        MemoryLimitExceededException failure = await Assert.ThrowsAsync<MemoryLimitExceededException>(() => late.WaitAsync(s_patience));
        end.Cancel();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => earlier);
        Assert.True(failure.IsTransient);
        Assert.Contains("this job waits for others of its name to end, because few have ended so far", failure.Message);
    }

    [Fact]
    public async Task ReserveAsync_OnlyAMinimumMustStayFree_ReservesHalfOfWhatIsLeft()
    {
        FakeHeadroom left = new() { Now = new Headroom(1000 * Block, 1000 * Block, 1000 * Block) };
        using TestSetup setup = new(maximumBlocks: 64, minimumFree: 200 * Block, left: left);
        using MemoryReservation first = await setup.Allocator.ReserveAsync("x");
        Assert.Equal(500 * Block, first.ReservedBytes);
        Assert.False(setup.Allocator.TryReserve("x", out _));
    }

    // Half of what is left would be more than any machine has.
    [Fact]
    public void TryReserve_TheSystemReportsNoMemoryAndSomeIsOutstanding_ReservesTheLeast()
    {
        using TestSetup setup = new(maximumBlocks: 64, minimumFree: 2 * Block, left: new FakeHeadroom());
        using IMemoryOwner<byte> outstanding = setup.Allocator.Allocate<byte>(Block);
        Assert.True(setup.Allocator.TryReserve("x", out MemoryReservation? job));
        Assert.Equal(4 * Block, job.ReservedBytes);
        job.Dispose();
    }

    [Fact]
    public async Task DescribeMemory_JobsHaveNames_ShowsEach()
    {
        using TestSetup setup = new(maximumBlocks: 64, budget: 32 * Block);
        Assert.DoesNotContain("learned", setup.Allocator.DescribeMemory());
        await TeachAsync(setup.Allocator, "thumb\nnails", 8 * Block);
        Assert.Contains(
            "learned      thumb?nails: 0.13 MiB, elsewhere 0 MiB after 16 jobs, 0 of them refused; 0 run, 0 wait\n", setup.Allocator.DescribeMemory());
    }

    [Fact]
    public async Task GetJobStatistics_JobsOfTwoPowersOfTwo_ShowsEach()
    {
        using TestSetup setup = new(maximumBlocks: 64, budget: 40 * Block);
        Assert.Empty(setup.Allocator.GetJobStatistics());
        await TeachAsync(setup.Allocator, "photos", 8 * Block, jobs: 3, size: 100);
        await TeachAsync(setup.Allocator, "photos", 4 * Block, jobs: 2, size: 1000);
        await TeachAsync(setup.Allocator, "scans", Block, jobs: 1);
        MemoryReservation inTheWay = await setup.Allocator.ReserveAsync(30 * Block);
        using MemoryReservation running = await setup.Allocator.ReserveAsync("photos", 100);
        Task<MemoryReservation> waiting = setup.Allocator.ReserveAsync("photos", 1000).AsTask();
        Assert.Equal(
            [
                Of("photos", 64, 8 * Block, 8.0 * Block / 100, ended: 3, running: 1),
                Of("photos", 512, 4 * Block, 4.0 * Block / 1000, ended: 2, waiting: 1),
                Of("scans", 1, 4 * Block, Block, ended: 1),
            ],
            setup.Allocator.GetJobStatistics());
        Assert.Contains(
            "photos from size 64, up to 1,310.72 bytes a unit: 0.13 MiB, elsewhere 0 MiB after 3 jobs, 0 of them refused; 1 run, 0 wait\n",
            setup.Allocator.DescribeMemory());
        inTheWay.Dispose();
        using MemoryReservation begun = await waiting;
        Assert.Equal((1, 0), setup.Allocator.GetJobStatistics()[1] is { } now ? (now.Running, now.Waiting) : default);
        Assert.Equal(setup.Allocator.GetJobStatistics(), running.GetJobStatistics());

        static MemoryJobStatistics Of(
            string name, long size, long bytes, double bytesPerUnit, int ended, int running = 0, int waiting = 0) => new()
            {
                Name = name,
                Size = size,
                AllocatedBytes = bytes,
                BytesPerUnit = bytesPerUnit,
                Ended = ended,
                Running = running,
                Waiting = waiting,
            };
    }

    // Of a budget of 32 blocks: a job by name that claims four, and one that has the rest.
    private static async Task<(MemoryReservation Learned, MemoryReservation Running)> FillAsync(MemoryAllocator allocator)
    {
        await TeachAsync(allocator, "thumbnails", 4 * Block);
        return (await allocator.ReserveAsync("thumbnails"), await allocator.ReserveAsync(28 * Block));
    }

    internal static async Task TeachAsync(MemoryAllocator allocator, string job, int bytes, int jobs = 16, long size = 1)
    {
        for (int i = 0; i < jobs; i++)
        {
            using MemoryReservation reservation = await allocator.ReserveAsync(job, size);
            reservation.Allocate<byte>(bytes).Dispose();
        }
    }
}
