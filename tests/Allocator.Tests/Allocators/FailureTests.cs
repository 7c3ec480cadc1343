namespace Allocator.Tests.Allocators;

/// <summary>
/// The system refuses the k-th call, for every k until a scenario passes untouched. Afterwards everything is where it was.
/// </summary>
public class FailureTests
{
    private const int Block = TestSetup.BlockSize;

    // What all scenarios need at most, beside what is held.
    private const int Needed = 40 * Block;
    private const int Held = 4 * Block;

    private static readonly string[] s_scenarios =
    [
        "block", "run", "mapping", "group", "group above the pool", "mixed group", "clean group", "pixels", "aligned pixels",
        "contiguous pixels", "clone", "aligned", "lease", "prewarm",
        "small", "async buffer", "async group", "async pixels", "reservation", "reservation within a reservation",
    ];

    public static TheoryData<string, string> Scenarios
    {
        get
        {
            TheoryData<string, string> data = [];
            foreach (string scenario in s_scenarios)
            {
                data.Add(scenario, "no budget");
                data.Add(scenario, "budget");
                data.Add(scenario, "budget that is idle");
            }

            return data;
        }
    }

    [Theory]
    [MemberData(nameof(Scenarios))]
    public void Allocate_SystemRefusesFromTheKthCallOn_ThrowsAndChangesNothing(string scenario, string budget)
    {
        bool passed = false;
        for (int k = 1; !passed; k++)
        {
            using TestSetup setup = Create(budget);
            using MemoryGroup<byte> held = setup.Allocator.AllocateGroup<byte>(Held);
            setup.Source.Restart();
            setup.Source.RefuseFrom = k;
            MemoryAllocatorStatistics before = setup.Statistics;

            try
            {
                Run(scenario, setup.Allocator);
                passed = true;
            }
            catch (OutOfMemoryException e)
            {
                Assert.Contains("refused", e.Message);
                Assert.Equal(8, setup.Statistics.AllocationRetries);
                Assert.Equal(setup.Statistics.AllocationRetries, setup.Clock.Delays.Count);

                MemoryAllocatorStatistics after = setup.Statistics;
                if (!scenario.StartsWith("clone", StringComparison.Ordinal))
                {
                    Assert.Equal((before.Rents, before.PoolHits, before.PoolMisses), (after.Rents, after.PoolHits, after.PoolMisses));
                }

                Assert.Equal((before.RentedBytes, before.OutstandingAllocations), (after.RentedBytes, after.OutstandingAllocations));
                Assert.Equal(after.CommittedBytes, after.RentedBytes + after.RetainedBytes);
            }

            Assert.Equal(
                (before.BudgetUsedBytes, before.OutstandingAllocations, 0L),
                (setup.Statistics.BudgetUsedBytes, setup.Statistics.OutstandingAllocations, setup.Statistics.BudgetWaits));
            Assert.Equal(0, setup.Source.LiveAllocations);

            // No slot of the pool and no byte of the budget was lost: all of it can be had.
            setup.Source.Restart();
            using MemoryGroup<byte> rest = setup.Allocator.AllocateGroup<byte>(4 * Block);
            Assert.Equal((0, 8L * Block), (setup.Source.LiveAllocations, setup.Statistics.RentedBytes));
            using IMemoryOwner<byte> all = setup.Allocator.Allocate<byte>(Needed - 4 * Block);
            Assert.InRange(k, 1, 100);
        }
    }

    [Theory]
    [MemberData(nameof(Scenarios))]
    public void Allocate_SystemRefusesTheKthCallOnly_Succeeds(string scenario, string budget)
    {
        int refusals = 0;
        for (int k = 1; k < 30; k++)
        {
            using TestSetup setup = Create(budget);
            setup.Source.RefuseFrom = setup.Source.Calls + k;
            setup.Source.RefuseCount = 1;
            Run(scenario, setup.Allocator);
            refusals += setup.Source.Refusals;
            Assert.Equal(
                (0L, 0L, 0L), (setup.Statistics.OutstandingAllocations, setup.Statistics.RentedBytes, setup.Statistics.BudgetUsedBytes));

            // Blocks, and at most one idle array of each length.
            Assert.InRange(setup.Statistics.RetainedBytes - setup.Statistics.CommittedBytes, 0, 2 * TestSetup.ArrayThreshold);
        }

        // An array takes nothing of the system, and some scenarios find enough in idle blocks.
        bool makesCalls = scenario != "small" && budget != "budget that is idle";
        Assert.True(!makesCalls || refusals > 0, "No call was refused.");
    }

    // A purge that the system refuses leaves the block as it was, and the budget with it.
    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void Allocate_SystemRefusesThePurgesFromTheKthOn_ThrowsNamingTheBudgetAndChangesNothing(bool isGroup)
    {
        for (int k = 0; k < 8; k++)
        {
            using TestSetup setup = new(maximumBlocks: 8, budget: 8 * Block);
            setup.Allocator.AllocateGroup<byte>(8 * Block).Dispose();
            setup.Source.PurgesAllowed = k;
            MemoryLimitExceededException e = Assert.Throws<MemoryLimitExceededException>(
                () => AllocateOutsideThePool(setup.Allocator, isGroup));
            Assert.Contains("could not be returned to the system", e.Message);
            Assert.Equal((0L, 0L), (setup.Statistics.BudgetUsedBytes, setup.Statistics.OutstandingAllocations));
            Assert.Equal((8L - k) * Block, setup.Statistics.CommittedBytes);
            setup.Source.PurgesAllowed = int.MaxValue;
            AllocateOutsideThePool(setup.Allocator, isGroup).Dispose();
            Assert.Equal((0L, 0L), (setup.Statistics.BudgetUsedBytes, setup.Statistics.CommittedBytes));
        }
    }

    [Fact]
    public async Task AllocateAsync_SystemRefuses_BlocksNoThread()
    {
        using TestSetup setup = new(4);
        setup.Clock.HoldsAsyncDelays = true;
        setup.Source.RefuseFrom = 1;
        Task<IMemoryOwner<byte>> waiting = setup.Allocator.AllocateAsync<byte>(Block).AsTask();
        for (int pause = 1; pause <= 4; pause *= 2)
        {
            Assert.False(waiting.IsCompleted);
            Assert.True(SpinWait.SpinUntil(
                () => setup.Clock.NextTimer == TimeSpan.FromMilliseconds(pause), TimeSpan.FromSeconds(30)));
            setup.Source.RefuseFrom = pause < 4 ? 1 : int.MaxValue;
            setup.Clock.Advance(TimeSpan.FromMilliseconds(pause));
        }

        (await waiting.WaitAsync(TimeSpan.FromSeconds(30))).Dispose();
        Assert.Empty(setup.Clock.Delays);
        Assert.Equal(3, setup.Statistics.AllocationRetries);
    }

    [Fact]
    public async Task AllocateAsync_SystemRefusesTooOften_FailsAndLosesNothing()
    {
        using TestSetup setup = new(4, budget: 4 * Block);
        setup.Clock.HoldsAsyncDelays = true;
        setup.Source.RefuseFrom = 1;
        Task<IMemoryOwner<byte>> waiting = setup.Allocator.AllocateAsync<byte>(Block).AsTask();
        bool isOver = SpinWait.SpinUntil(
            () =>
            {
                setup.Clock.Advance(TimeSpan.FromMilliseconds(1));
                return waiting.IsCompleted;
            },
            TimeSpan.FromSeconds(30));
        Assert.True(isOver);
        await Assert.ThrowsAsync<OutOfMemoryException>(() => waiting);
        Assert.Equal((0L, 0), (setup.Statistics.BudgetUsedBytes, setup.Clock.Delays.Count));
    }

    [Fact]
    public void Allocate_SystemRefuses_ReleasesIdleMemoryBeforeTheNextTry()
    {
        using TestSetup setup = new(maximumBlocks: 8);
        setup.Allocator.AllocateGroup<byte>(8 * Block).Dispose();
        setup.Source.Restart();
        setup.Source.RefuseFrom = 1;
        setup.Clock.OnDelay = () => setup.Source.RefuseFrom = setup.Statistics.RetainedBytes == 0 ? int.MaxValue : 1;
        setup.Allocator.Allocate<byte>(100 * Block).Dispose();
        Assert.Equal((1L, 8L * Block), (setup.Statistics.AllocationRetries, setup.Statistics.TrimmedBytes));
        Assert.True(setup.HasCollected(1));
    }

    [Fact]
    public void Allocate_LaterStepFailsBeforeTheRentBegins_ReturnsTheMemory()
    {
        using TestSetup setup = new(maximumBlocks: 8);
        setup.Clock.OnTimerStart = static () => throw new InvalidOperationException("No timer.");
        foreach (int length in (int[])[Block, 3 * Block, 100 * Block])
        {
            setup.Allocator.ReleaseRetainedResources();
            Assert.Throws<InvalidOperationException>(() => setup.Allocator.Allocate<byte>(length));
            setup.Allocator.ReleaseRetainedResources();
            Assert.Throws<InvalidOperationException>(() => setup.Allocator.AllocateGroup<byte>(length));
        }

        Assert.Equal((0L, 0L, 0), (setup.Statistics.RentedBytes, setup.Statistics.OutstandingAllocations, setup.Source.LiveAllocations));
        Assert.Equal((0L, 0L, 0L), (setup.Statistics.Rents, setup.Statistics.PoolHits, setup.Statistics.PoolMisses));
        Assert.Equal(setup.Statistics.CommittedBytes, setup.Statistics.RetainedBytes);
        setup.Clock.OnTimerStart = null;
        setup.Allocator.AllocateGroup<byte>(8 * Block).Dispose();
        Assert.Equal(8 * Block, setup.Statistics.RetainedBytes);
    }

    [Fact]
    public void Allocate_GroupFailsAfterSomeBlocks_TrimsThemLater()
    {
        using TestSetup setup = new(maximumBlocks: 8);
        setup.Source.RefuseFrom = 4;
        Assert.Throws<OutOfMemoryException>(() => setup.Allocator.AllocateGroup<byte>(8 * Block));
        setup.Clock.Advance(TimeSpan.FromMinutes(10));
        Assert.Equal(0, setup.Statistics.CommittedBytes);
    }

    [Fact]
    public void Allocate_MoreThanTheMachineHas_ThrowsOutOfMemoryNamingTheSize()
    {
        using TestSetup setup = new(8, new MemoryAllocatorOptions { AllocationLimitMegabytes = int.MaxValue });
        OutOfMemoryException e = Assert.Throws<OutOfMemoryException>(
            () => setup.Allocator.AllocateGroup<byte>(1L << 50, 1, AllocationOptions.Contiguous));
        Assert.Contains("1,125,899,906,842,624", e.Message);
        Assert.Equal(0, setup.Statistics.CommittedBytes);
    }

    // With room for the largest scenario beside what is held; in the last case idle memory has to go for it first.
    private static TestSetup Create(string budget)
    {
        TestSetup setup = new(maximumBlocks: 8, budget: budget == "no budget"
            ? null
            : budget == "budget"
            ? 2 * (Held + Needed)
            : Held + Needed);
        if (budget == "budget that is idle")
        {
            setup.Allocator.AllocateGroup<byte>(8 * Block).Dispose();
        }

        return setup;
    }

    private static IDisposable AllocateOutsideThePool(MemoryAllocator allocator, bool isGroup) => isGroup
        ? allocator.AllocateGroup<byte>(8 * Block, rowLength: 2 * Block)
        : allocator.AllocateAligned<byte>(8 * Block, 2 * 1024 * 1024);

    private static void Run(string scenario, MemoryAllocator allocator)
    {
        switch (scenario)
        {
            case "lease":
                allocator.Rent<byte>(Block).Dispose();
                break;
            case "prewarm":
                allocator.Prewarm(3 * Block);
                break;
            case "clone":
                using (PixelBuffer<int> pixels = allocator.AllocatePixels<int>(500, 100))
                {
                    pixels.Clone().Dispose();
                }

                break;
            case "reservation":
                using (MemoryReservation reservation = Wait(allocator.ReserveAsync(Needed)))
                {
                    reservation.AllocateGroup<byte>(Needed).Dispose();
                }

                break;
            case "reservation within a reservation":
                using (MemoryReservation outer = Wait(allocator.ReserveAsync(20 * Block)))
                using (MemoryReservation inner = Wait(outer.ReserveAsync(10 * Block)))
                {
                    inner.AllocatePixels<int>(1_000, 100).Dispose();
                }

                break;
            default:
                Allocate(scenario, allocator).Dispose();
                break;
        }
    }

    private static IDisposable Allocate(string scenario, MemoryAllocator allocator) => scenario switch
    {
        "block" => allocator.Allocate<byte>(Block),
        "run" => allocator.Allocate<byte>(3 * Block),
        "mapping" => allocator.Allocate<byte>(30 * Block),
        "group" => allocator.AllocateGroup<byte>(3 * Block),
        "mixed group" => allocator.AllocateGroup<byte>(8 * Block),
        "group above the pool" => allocator.AllocateGroup<byte>(Needed),
        "clean group" => allocator.AllocateGroup<byte>(10 * Block, 1, AllocationOptions.Clean),
        "pixels" => allocator.AllocatePixels<int>(500, 100),
        "aligned pixels" => allocator.AllocatePixels<int>(500, 100, rowAlignmentInBytes: 512),
        "contiguous pixels" => allocator.AllocatePixels<int>(500, 100, AllocationOptions.Contiguous),
        "aligned" => allocator.AllocateAligned<byte>(100, 4096),
        "small" => allocator.Allocate<byte>(100),
        "async buffer" => Wait(allocator.AllocateAsync<byte>(3 * Block)),
        "async group" => Wait(allocator.AllocatePixelsAsync<int>(1_000, 150)),
        "async pixels" => Wait(allocator.AllocatePixelsAsync<int>(500, 100, AllocationOptions.Contiguous)),
        _ => throw new ArgumentException(scenario, nameof(scenario)),
    };

    private static T Wait<T>(ValueTask<T> task)
    {
        Assert.True(task.IsCompleted);
        return task.GetAwaiter().GetResult();
    }
}
