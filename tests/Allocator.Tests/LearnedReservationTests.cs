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
            Assert.Equal(budget * 3 / 4 ?? 4 * Block, first.ReservedBytes);
        }

        await TeachAsync(setup.Allocator, "thumbnails", 8 * Block);
        using MemoryReservation learned = await setup.Allocator.ReserveAsync("thumbnails");
        Assert.Equal((8L * Block, 8L * Block), (learned.ReservedBytes, learned.RemainingBytes));
        Assert.True(setup.Allocator.TryReserve("thumbnails", out MemoryReservation? second));
        Assert.Equal((8L * Block, budget is null ? 0 : 16 * Block), (second.ReservedBytes, setup.Statistics.BudgetUsedBytes));
        second.Dispose();
        using MemoryReservation other = await setup.Allocator.ReserveAsync("");
        Assert.Equal(budget is null ? 4 * Block : 24 * Block, other.ReservedBytes);
    }

    // Each that waits would else reserve what was known when it came: three quarters of the budget.
    [Fact]
    public async Task ReserveAsync_JobsEndWhileItWaits_ReservesWhatIsKnownThen()
    {
        using TestSetup setup = new(maximumBlocks: 64, budget: 32 * Block);
        MemoryReservation first = await setup.Allocator.ReserveAsync("thumbnails");
        first.Allocate<byte>(4 * Block).Dispose();
        Task<MemoryReservation>[] waiting = [.. Enumerable.Range(0, 8).Select(_ => setup.Allocator.ReserveAsync("thumbnails").AsTask())];
        Assert.DoesNotContain(waiting, static task => task.IsCompleted);
        first.Dispose();

        // One of them may need 19, so 15 stay free.
        MemoryReservation fourth = await waiting[3].WaitAsync(s_patience);
        Assert.Equal((4L * Block, 16L * Block), (fourth.ReservedBytes, setup.Statistics.BudgetUsedBytes));
        foreach (Task<MemoryReservation> job in waiting)
        {
            using MemoryReservation next = await job.WaitAsync(s_patience);
            Assert.Equal(4 * Block, next.ReservedBytes);
        }

        Assert.Equal(0, setup.Statistics.BudgetUsedBytes);
    }

    // If both took what is free, both would wait for more, and one would have to fail.
    [Fact]
    public async Task GrowAsync_JobsThatTogetherNeedMoreThanThereIs_LetsOneGoOnToItsEnd()
    {
        using TestSetup setup = new(maximumBlocks: 64, budget: 16 * Block);
        await TeachAsync(setup.Allocator, "thumbnails", 12 * Block, jobs: 4);
        await TeachAsync(setup.Allocator, "thumbnails", 4 * Block, jobs: 60);
        MemoryReservation first = await setup.Allocator.ReserveAsync("thumbnails");
        using MemoryReservation second = await setup.Allocator.ReserveAsync("thumbnails");
        Assert.Equal((4L * Block, 4L * Block), (first.ReservedBytes, second.ReservedBytes));
        Assert.False(setup.Allocator.TryReserve("thumbnails", out _));
        await first.GrowAsync(4 * Block);
        Task growing = second.GrowAsync(4 * Block).AsTask();
        Assert.False(growing.IsCompleted);
        await first.GrowAsync(4 * Block).AsTask().WaitAsync(s_patience);
        first.Dispose();
        await growing.WaitAsync(s_patience);
        await second.GrowAsync(4 * Block).AsTask().WaitAsync(s_patience);
        Assert.Equal((12L * Block, 12L * Block), (second.ReservedBytes, setup.Statistics.BudgetUsedBytes));
    }

    // None could go on to what others needed. But perhaps these need less.
    [Fact]
    public async Task GrowAsync_NoJobCouldGetWhatOthersNeeded_GrowsAsFarAsThereIsRoom()
    {
        using TestSetup setup = new(maximumBlocks: 64, budget: 32 * Block);
        await TeachAsync(setup.Allocator, "thumbnails", 4 * Block, jobs: 64);
        using MemoryReservation first = await setup.Allocator.ReserveAsync("thumbnails");
        using MemoryReservation second = await setup.Allocator.ReserveAsync("thumbnails");
        using MemoryReservation others = await setup.Allocator.ReserveAsync(16 * Block);
        await TeachAsync(setup.Allocator, "thumbnails", 8 * Block, jobs: 1);
        using MemoryReservation more = await setup.Allocator.ReserveAsync(4 * Block);
        await first.GrowAsync(2 * Block).AsTask().WaitAsync(s_patience);
        await second.GrowAsync(2 * Block).AsTask().WaitAsync(s_patience);
        Assert.Equal(32 * Block, setup.Statistics.BudgetUsedBytes);
    }

    [Fact]
    public async Task GrowAsync_OfALearnedReservationBeyondTwice_GoesAheadOfNewcomers()
    {
        using TestSetup setup = new(maximumBlocks: 64, budget: 32 * Block);
        await TeachAsync(setup.Allocator, "thumbnails", 4 * Block);
        using MemoryReservation learned = await setup.Allocator.ReserveAsync("thumbnails");
        MemoryReservation running = await setup.Allocator.ReserveAsync(28 * Block);
        Task<MemoryReservation> newcomer = setup.Allocator.ReserveAsync(20 * Block).AsTask();
        Task growing = learned.GrowAsync(12 * Block).AsTask();
        running.Dispose();
        await growing.WaitAsync(s_patience);
        Assert.Equal((16L * Block, 16L * Block), (learned.ReservedBytes, setup.Statistics.BudgetUsedBytes));
        learned.Dispose();
        (await newcomer.WaitAsync(s_patience)).Dispose();
    }

    // A synchronous request of another kind would be refused at once.
    [Fact]
    public async Task Allocate_OfALearnedReservationBeyondItsSize_WaitsForOthers()
    {
        using TestSetup setup = new(maximumBlocks: 64, budget: 32 * Block);
        await TeachAsync(setup.Allocator, "thumbnails", 4 * Block);
        using MemoryReservation learned = await setup.Allocator.ReserveAsync("thumbnails");
        MemoryReservation running = await setup.Allocator.ReserveAsync(28 * Block);
        Task<IMemoryOwner<byte>> allocating = Task.Run(() => learned.Allocate<byte>(12 * Block));
        Assert.True(SpinWait.SpinUntil(() => setup.Statistics.BudgetWaits == 1, s_patience));
        running.Dispose();
        (await allocating.WaitAsync(s_patience)).Dispose();
        Assert.Equal(12 * Block, learned.PeakUsedBytes);
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
        Assert.False(more.IsCompleted);
        younger.Dispose();
        await more.WaitAsync(s_patience);
        older.Dispose();
        using MemoryReservation next = await setup.Allocator.ReserveAsync("thumbnails", TimeSpan.Zero);
        Assert.Equal(8 * Block, next.ReservedBytes);
        Assert.Contains("thumbnails: 0.38 MiB after 17 jobs, 1 of them refused", setup.Allocator.DescribeMemory());

        static IMemoryOwner<byte> UseBoth(IMemoryOwner<byte> used, MemoryReservation reservation)
        {
            using (used)
            {
                return reservation.Allocate<byte>(16 * Block);
            }
        }
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
        Assert.Throws<ArgumentOutOfRangeException>("timeout", () => { _ = setup.Allocator.ReserveAsync("x", TimeSpan.FromSeconds(-2)); });
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
        MemoryLimitExceededException failure = await Assert.ThrowsAsync<MemoryLimitExceededException>(
            async () => await setup.Allocator.ReserveAsync("x", TimeSpan.Zero));
        Assert.True(failure.IsTransient);
    }

    [Fact]
    public async Task ReserveAsync_OnlyAMinimumMustStayFree_ReservesThreeQuartersOfTheRest()
    {
        FakeHeadroom left = new() { Now = new Headroom(1000 * Block, 1000 * Block, 1000 * Block) };
        using TestSetup setup = new(maximumBlocks: 64, minimumFree: 200 * Block, left: left);
        using MemoryReservation first = await setup.Allocator.ReserveAsync("x");
        Assert.Equal(600 * Block, first.ReservedBytes);
        Assert.False(setup.Allocator.TryReserve("x", out _));
    }

    [Fact]
    public async Task DescribeMemory_JobsHaveNames_ShowsEach()
    {
        using TestSetup setup = new(maximumBlocks: 64, budget: 32 * Block);
        Assert.DoesNotContain("learned", setup.Allocator.DescribeMemory());
        await TeachAsync(setup.Allocator, "thumb\nnails", 8 * Block);
        Assert.Contains("learned      thumb?nails: 0.13 MiB after 16 jobs, 0 of them refused\n", setup.Allocator.DescribeMemory());
    }

    internal static async Task TeachAsync(MemoryAllocator allocator, string job, int bytes, int jobs = 16)
    {
        for (int i = 0; i < jobs; i++)
        {
            using MemoryReservation reservation = await allocator.ReserveAsync(job);
            reservation.Allocate<byte>(bytes).Dispose();
        }
    }
}
