using Allocator.Allocators;
using Allocator.Pooling;

namespace Allocator.Tests;

/// <summary>Allocators with a memory budget: what fits, what waits and what fails. In blocks of 16 KiB, arrays up to 1 KiB.</summary>
public class MemoryBudgetAllocationTests
{
    private const int Block = TestSetup.BlockSize;

    private static readonly TimeSpan s_patience = TimeSpan.FromMinutes(1);

    // The length was rounded up to a power of two, and then said never to fit.
    [Fact]
    public void RentArray_PowerOfTwoAboveTheBudget_HasTheRequestedLength()
    {
        using MemoryAllocator allocator = MemoryAllocator.Create(
            new MemoryAllocatorOptions { MemoryBudgetMegabytes = 6, HonorMemoryLimit = false });
        ArrayPool<byte> arrays = allocator.AsArrayPool();
        for (int i = 0; i < 3; i++)
        {
            byte[] array = arrays.Rent(5_700_000);
            Assert.Equal((5_700_000, 5_700_000L), (array.Length, allocator.GetStatistics().RentedBytes));
            arrays.Return(array);
        }

        Assert.Equal((0L, 0L), (allocator.GetStatistics().OutstandingAllocations, allocator.GetStatistics().RetainedBytes));
    }

    [Fact]
    public void Allocate_MoreThanTheBudget_IsRefusedAtOnceWithTheRequestedBytes()
    {
        using MemoryAllocator allocator = MemoryAllocator.Create(new MemoryAllocatorOptions
        {
            MemoryBudgetMegabytes = 6,
            BudgetTimeout = Timeout.InfiniteTimeSpan,
            HonorMemoryLimit = false,
        });
        using IMemoryOwner<byte> held = allocator.Allocate<byte>(1000);
        MemoryAllocatorStatistics before = allocator.GetStatistics();
        foreach (Action allocate in (Action[])[
            () => allocator.Allocate<byte>(7_000_001),
            () => allocator.AllocateGroup<byte>(7_000_001),
            () => allocator.AllocateAligned<byte>(7_000_001, 4096),
            () => allocator.AllocateAsync<byte>(7_000_001).AsTask().GetAwaiter().GetResult(),
            () => allocator.AsArrayPool().Rent(7_000_001),
            () => allocator.AsMemoryPool<byte>().Rent(7_000_001),
            () => allocator.CreateStream(7_000_001),
            () => allocator.ReserveAsync(7_000_001).AsTask().GetAwaiter().GetResult()])
        {
            MemoryLimitExceededException refused = Assert.Throws<MemoryLimitExceededException>(allocate);
            Assert.Equal(
                (7_000_001L, 6L << 20, 6L << 20, false),
                (refused.RequestedBytes, refused.LimitBytes, refused.AvailableBytes, refused.IsTransient));
        }

        Assert.Throws<MemoryLimitExceededException>(() => allocator.AllocatePixels<int>(4096, 512));
        Assert.Throws<MemoryLimitExceededException>(
            () => allocator.AllocatePixelsAsync<int>(4096, 512).AsTask().GetAwaiter().GetResult());
        MemoryAllocatorStatistics after = allocator.GetStatistics();
        Assert.Equal((before.BudgetUsedBytes, 0L, before.Rents), (after.BudgetUsedBytes, after.BudgetWaits, after.Rents));
    }

    [Fact]
    public void RentArray_PowerOfTwoAboveTheAllocationLimit_HasTheRequestedLength()
    {
        using MemoryAllocator allocator = MemoryAllocator.Create(new MemoryAllocatorOptions { AllocationLimitMegabytes = 3 });
        ArrayPool<byte> arrays = allocator.AsArrayPool();
        byte[] array = arrays.Rent(5 << 19);
        Assert.Equal(5 << 19, array.Length);
        arrays.Return(array);
        Assert.Throws<MemoryLimitExceededException>(() => arrays.Rent((3 << 20) + 1));
        Assert.Equal(0, allocator.GetStatistics().OutstandingAllocations);
    }

    [Fact]
    public void Allocate_NoRoomAndNoTimeout_ThrowsAtOnceAndNamesTheNumbers()
    {
        using TestSetup setup = new(budget: 4 * Block);
        using MemoryGroup<byte> held = setup.Allocator.AllocateGroup<byte>(3 * Block);
        MemoryLimitExceededException failure = Assert.Throws<MemoryLimitExceededException>(
            () => setup.Allocator.AllocateGroup<byte>(2 * Block));
        Assert.Equal(
            (2L * Block, 4L * Block, 1L * Block, true),
            (failure.RequestedBytes, failure.LimitBytes, failure.AvailableBytes, failure.IsTransient));
        Assert.Contains("32,768", failure.Message);
        Assert.Contains("16,384", failure.Message);
        Assert.Contains("65,536", failure.Message);
        Assert.Equal(
            (3L * Block, 1L, 1L),
            (setup.Statistics.BudgetUsedBytes, setup.Statistics.BudgetWaits, setup.Statistics.OutstandingAllocations));
        using IMemoryOwner<byte> fits = setup.Allocator.Allocate<byte>(Block);
        Assert.Equal(4 * Block, setup.Statistics.BudgetUsedBytes);
    }

    [Fact]
    public async Task AllocateAsync_NoRoom_CompletesWhenMemoryIsReturned()
    {
        using TestSetup setup = new(budget: 4 * Block);
        IMemoryOwner<byte> first = setup.Allocator.Allocate<byte>(2 * Block);
        IMemoryOwner<byte> second = setup.Allocator.Allocate<byte>(2 * Block);
        Task<IMemoryOwner<byte>> waiting = setup.Allocator.AllocateAsync<byte>(3 * Block).AsTask();
        first.Dispose();
        Assert.False(waiting.IsCompleted);
        Assert.Equal(1, setup.Statistics.BudgetWaits);
        second.Dispose();
        using (IMemoryOwner<byte> owner = await waiting)
        {
            Assert.Equal(3 * Block, owner.Memory.Length);
            Assert.Equal(3 * Block, setup.Statistics.BudgetUsedBytes);
        }

        Assert.Equal((0L, 0L), (setup.Statistics.BudgetUsedBytes, setup.Statistics.OutstandingAllocations));
        Assert.InRange(setup.Statistics.PeakCommittedBytes, 1, 4 * Block);
    }

    [Fact]
    public async Task AllocateAsync_NoRoom_DoesNotContinueOnTheDisposingThread()
    {
        using TestSetup setup = new(budget: Block);
        IMemoryOwner<byte> held = setup.Allocator.Allocate<byte>(Block);
        int continuedOn = 0;
        Task continued = ContinueAsync();
        int disposedOn = 0;
        Thread disposing = new(() =>
        {
            disposedOn = Environment.CurrentManagedThreadId;
            held.Dispose();
        });
        disposing.Start();
        disposing.Join();
        await continued;
        Assert.NotEqual(disposedOn, continuedOn);

        async Task ContinueAsync()
        {
            using IMemoryOwner<byte> owner = await setup.Allocator.AllocateAsync<byte>(Block).ConfigureAwait(false);
            continuedOn = Environment.CurrentManagedThreadId;
        }
    }

    [Fact]
    public async Task AllocateAsync_Cancelled_TakesNothingAndLetsTheNextIn()
    {
        using TestSetup setup = new(budget: 4 * Block);
        using IMemoryOwner<byte> held = setup.Allocator.Allocate<byte>(2 * Block);
        using CancellationTokenSource source = new();
        Task<IMemoryOwner<byte>> cancelled = setup.Allocator.AllocateAsync<byte>(4 * Block, cancellationToken: source.Token).AsTask();
        Task<PixelBuffer<byte>> pixels =
            setup.Allocator.AllocatePixelsAsync<byte>(Block, 4, AllocationOptions.None, source.Token).AsTask();
        Task<MemoryReservation> reservation = setup.Allocator.ReserveAsync(4 * Block, source.Token).AsTask();
        source.Cancel();
        OperationCanceledException failure = await Assert.ThrowsAnyAsync<OperationCanceledException>(() => cancelled);
        Assert.Equal(source.Token, failure.CancellationToken);
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => pixels);
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => reservation);
        await Assert.ThrowsAnyAsync<OperationCanceledException>(
            async () => await setup.Allocator.AllocateAsync<byte>(1, cancellationToken: source.Token));
        Assert.Equal(2 * Block, setup.Statistics.BudgetUsedBytes);
        using IMemoryOwner<byte> next = setup.Allocator.Allocate<byte>(2 * Block);
    }

    [Fact]
    public async Task Allocate_NoRoomInTime_ThrowsWhenTheTimeIsOver()
    {
        using TestSetup setup = new(options: new MemoryAllocatorOptions { BudgetTimeout = TimeSpan.FromSeconds(30) }, budget: Block);
        using IMemoryOwner<byte> held = setup.Allocator.Allocate<byte>(Block);
        Task<IMemoryOwner<byte>> waiting = OnAThread(() => setup.Allocator.Allocate<byte>(Block));
        WaitForWaiter(setup);
        setup.Clock.Advance(TimeSpan.FromSeconds(29));
        Assert.False(waiting.IsCompleted);
        setup.Clock.Advance(TimeSpan.FromSeconds(2));
        MemoryLimitExceededException failure = await Assert.ThrowsAsync<MemoryLimitExceededException>(() => waiting);
        Assert.Contains("00:00:30", failure.Message);
        Assert.Equal(Block, setup.Statistics.BudgetUsedBytes);
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task Allocate_MemoryIsReturnedInTime_Succeeds(bool hasTimeout)
    {
        using TestSetup setup = new(
            options: new MemoryAllocatorOptions { BudgetTimeout = hasTimeout ? TimeSpan.FromSeconds(30) : Timeout.InfiniteTimeSpan },
            budget: Block);
        IMemoryOwner<byte> held = setup.Allocator.Allocate<byte>(Block);
        Task<IMemoryOwner<byte>> waiting = OnAThread(() => setup.Allocator.Allocate<byte>(Block));
        WaitForWaiter(setup);
        held.Dispose();
        (await waiting).Dispose();
        Assert.Equal(0, setup.Statistics.BudgetUsedBytes);
        setup.Clock.Advance(TimeSpan.FromMinutes(1));
    }

    private static readonly string[] s_shapes = ["block", "run", "group", "mapping", "aligned", "array", "pixels", "lease", "clean"];

    [Fact]
    public void Allocate_WaitIsInterrupted_OthersGetTheMemory()
    {
        using TestSetup setup = new(options: new MemoryAllocatorOptions { BudgetTimeout = Timeout.InfiniteTimeSpan }, budget: Block);
        IMemoryOwner<byte> held = setup.Allocator.Allocate<byte>(Block);
        bool wasInterrupted = false;
        Thread waiting = new(() =>
        {
            try
            {
                setup.Allocator.Allocate<byte>(Block).Dispose();
            }
            catch (ThreadInterruptedException)
            {
                wasInterrupted = true;
            }
        });
        waiting.Start();
        WaitForWaiter(setup);
        waiting.Interrupt();
        waiting.Join();
        held.Dispose();
        Assert.True(wasInterrupted);
        Assert.Equal(0, setup.Statistics.BudgetUsedBytes);
    }

    // The wake-up needs no thread of the pool: they may all be waiting themselves.
    [Fact]
    public void Allocate_AllThreadsOfThePoolAreBlocked_WakesTheWaitingThread() => RemoteExecutor.Invoke(static () =>
    {
        using MemoryAllocator allocator = MemoryAllocator.Create(
            new MemoryAllocatorOptions { MemoryBudgetMegabytes = 4, BudgetTimeout = Timeout.InfiniteTimeSpan });
        IMemoryOwner<byte> held = allocator.Allocate<byte>(4 << 20);
        using ManualResetEventSlim end = new();
        QueuedWork.BlockThreadPool(end);
        Thread waiting = new(() => allocator.Allocate<byte>(4 << 20).Dispose()) { IsBackground = true };
        waiting.Start();
        Assert.True(SpinWait.SpinUntil(() => allocator.GetStatistics().BudgetWaits == 1, TimeSpan.FromSeconds(30)));
        held.Dispose();
        Assert.True(waiting.Join(TimeSpan.FromSeconds(20)), "It waits for a thread of the pool.");
        end.Set();
    }).Dispose();

    [Fact]
    public void Allocate_NoTimerForTheWait_OthersGetTheMemory()
    {
        using TestSetup setup = new(options: new MemoryAllocatorOptions { BudgetTimeout = TimeSpan.FromSeconds(30) }, budget: 1024);
        IMemoryOwner<byte> held = setup.Allocator.Allocate<byte>(1000);
        setup.Clock.OnTimerStart = static () => throw new InvalidOperationException("No timer.");
        Assert.Throws<InvalidOperationException>(() => setup.Allocator.Allocate<byte>(1000));
        held.Dispose();
        Assert.Equal(0, setup.Statistics.BudgetUsedBytes);
        using IMemoryOwner<byte> next = setup.Allocator.Allocate<byte>(1000);
    }

    // What a refusal of another kind was is not blamed on the budget, with one or without.
    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void Prewarm_SystemRefusesAddressesAfterABudgetRefusedMemory_ThrowsOutOfMemory(bool hasBudget)
    {
        using TestSetup other = new(budget: Block);
        using (other.Allocator.Allocate<byte>(Block))
        {
            Assert.Throws<MemoryLimitExceededException>(() => other.Allocator.Allocate<byte>(Block));
            other.Allocator.Prewarm(Block);
        }

        using TestSetup setup = new(budget: hasBudget ? 8 * Block : null);
        setup.Source.Refuses = static kind => kind == "reserve";
        setup.Source.RefuseFrom = 1;
        Assert.Throws<OutOfMemoryException>(() => setup.Allocator.Prewarm(Block));
    }

    [Fact]
    public void Allocate_LittleIsMissing_ReleasesLittle()
    {
        using TestSetup setup = new(maximumBlocks: 16, budget: 16 * Block);
        setup.Allocator.AllocateGroup<byte>(12 * Block).Dispose();
        using IMemoryOwner<byte> outside = setup.Allocator.AllocateAligned<byte>(6 * Block, 2 * 1024 * 1024);
        Assert.Equal((10L * Block, 16L * Block), (setup.Statistics.RetainedBytes, setup.Statistics.CommittedBytes));
    }

    // Half of a run, committed in vain, would be taken away again by the next request in the same place, and so on for ever.
    [Fact]
    public void Allocate_RunOfWhichSomeBlocksFit_CommitsNoneBeforeAllDo()
    {
        using TestSetup setup = new(maximumBlocks: 8, budget: 8 * Block);
        IMemoryOwner<byte>[] singles = [.. Times(4, () => setup.Allocator.Allocate<byte>(Block))];
        singles[1].Dispose();
        singles[3].Dispose();
        using IMemoryOwner<byte> outside = setup.Allocator.AllocateAligned<byte>(2 * Block, 2 * 1024 * 1024);
        setup.Source.Restart();
        using IMemoryOwner<byte> run = setup.Allocator.Allocate<byte>(4 * Block);
        Assert.Equal((8L * Block, 2), (setup.Statistics.CommittedBytes, setup.Source.Purges));
        singles[0].Dispose();
        singles[2].Dispose();
    }

    [Fact]
    public void Allocate_OneIdleBlockCannotBeReleased_AnotherIs()
    {
        using TestSetup setup = new(maximumBlocks: 4, budget: 4 * Block);
        setup.Allocator.AllocateGroup<byte>(4 * Block).Dispose();
        nint locked = 0;
        setup.Source.RefusesPurge = address => address == (locked == 0 ? locked = address : locked);
        using IMemoryOwner<byte> outside = setup.Allocator.AllocateAligned<byte>(3 * Block, 2 * 1024 * 1024);
        Assert.Equal((Block, 4L * Block), (setup.Statistics.RetainedBytes, setup.Statistics.CommittedBytes));
    }

    [Theory]
    [InlineData(NativeMemoryKind.HGlobal)]
    [InlineData(NativeMemoryKind.CoTaskMem)]
    public void AllocateAligned_HeapThatKnowsNoAlignment_CountsWhatTheAlignmentTakes(NativeMemoryKind kind)
    {
        MemoryAllocatorOptions options = new() { NativeMemory = kind, MemoryBudgetMegabytes = 8, Safety = SafetyMode.Standard };
        using MemoryAllocator allocator = MemoryAllocator.Create(options);
        using IMemoryOwner<byte> one = allocator.AllocateAligned<byte>(100, 2 * 1024 * 1024);
        Assert.InRange(allocator.GetStatistics().BudgetUsedBytes, 2 * 1024 * 1024, 3 * 1024 * 1024);
        Assert.Equal(allocator.GetStatistics().BudgetUsedBytes, allocator.GetStatistics().CommittedBytes);
    }

    public static TheoryData<string> Shapes => new(s_shapes);

    // The pool holds 4 blocks, so the mapping cannot come from it; all the budget lies idle in single blocks first.
    [Theory]
    [MemberData(nameof(Shapes))]
    public void Allocate_BudgetIsIdle_ReleasesIdleMemoryBeforeAnyRequestWaits(string shape)
    {
        using TestSetup setup = new(maximumBlocks: 4, budget: 8 * Block);
        IMemoryOwner<byte>[] singles = [.. Times(4, () => setup.Allocator.Allocate<byte>(Block))];
        Array.ForEach(singles, static single => single.Dispose());
        Assert.Equal(4 * Block, setup.Statistics.RetainedBytes);
        using IMemoryOwner<byte> held = setup.Allocator.AllocateAligned<byte>(4 * Block, 2 * 1024 * 1024);
        Assert.Equal(8 * Block, setup.Statistics.CommittedBytes);

        using (Allocate(setup.Allocator, shape))
        {
            Assert.InRange(setup.Statistics.BudgetUsedBytes, 4 * Block + 1, 8 * Block);
        }

        Assert.Equal((0L, 4L * Block), (setup.Statistics.BudgetWaits, setup.Statistics.BudgetUsedBytes));
        Assert.InRange(setup.Statistics.PeakCommittedBytes, 1, 8 * Block);
        Assert.Empty(setup.Clock.Delays);
    }

    [Fact]
    public void Allocate_MemoryIsBeingTrimmed_WaitsInsteadOfFailing()
    {
        using TestSetup setup = new(maximumBlocks: 1, budget: Block);
        setup.Allocator.Allocate<byte>(Block).Dispose();
        using ManualResetEventSlim inHand = new();
        using ManualResetEventSlim goOn = new();
        setup.Source.OnPurge = () =>
        {
            inHand.Set();
            Assert.True(goOn.Wait(s_patience));
        };
        Thread trimmer = new(setup.Allocator.ReleaseRetainedResources);
        trimmer.Start();
        Assert.True(inHand.Wait(s_patience));
        setup.Source.OnPurge = null;
        setup.Clock.OnDelay = () =>
        {
            goOn.Set();
            Assert.True(trimmer.Join(s_patience));
        };
        setup.Allocator.Allocate<byte>(Block).Dispose();
        Assert.Single(setup.Clock.Delays);
        Assert.Equal((0L, 0L, 0L), (setup.Statistics.BudgetWaits, setup.Statistics.BudgetUsedBytes, setup.Statistics.AllocationRetries));
    }

    [Fact]
    public void Allocate_SmallBuffers_CountTheirArrays()
    {
        using TestSetup setup = new(budget: Block);
        List<IMemoryOwner<byte>> owners = [];
        for (int i = 0; i < 16; i++)
        {
            owners.Add(setup.Allocator.Allocate<byte>(TestSetup.ArrayThreshold - i));
        }

        Assert.Equal(
            (16L * TestSetup.ArrayThreshold, 16L, 0L),
            (setup.Statistics.BudgetUsedBytes, setup.Statistics.OutstandingAllocations, setup.Statistics.CommittedBytes));
        Assert.Equal(16 * TestSetup.ArrayThreshold, setup.Statistics.RentedBytes);
        Assert.Throws<MemoryLimitExceededException>(() => setup.Allocator.Allocate<byte>(1));
        setup.Allocator.Allocate<byte>(0).Dispose();
        owners.ForEach(static owner => owner.Dispose());
        Assert.Equal(
            (0L, 0L, 0L), (setup.Statistics.BudgetUsedBytes, setup.Statistics.OutstandingAllocations, setup.Statistics.RentedBytes));
        using IMemoryOwner<byte> block = setup.Allocator.Allocate<byte>(Block);
    }

    [Fact]
    public void Dispose_WhilePinned_KeepsTheBudgetUntilUnpinned()
    {
        using TestSetup setup = new(budget: 2 * Block);
        foreach (int length in new[] { 100, Block, 2 * Block })
        {
            IMemoryOwner<byte> owner = setup.Allocator.Allocate<byte>(length);
            long used = setup.Statistics.BudgetUsedBytes;
            using (owner.Memory.Pin())
            {
                owner.Dispose();
                Assert.Equal(used, setup.Statistics.BudgetUsedBytes);
            }

            Assert.Equal(0, setup.Statistics.BudgetUsedBytes);
        }
    }

    [Fact]
    public void Prewarm_BeyondTheBudget_StopsThereAndLeavesIdleMemoryToRequests()
    {
        using TestSetup setup = new(maximumBlocks: 16, budget: 4 * Block);
        using IMemoryOwner<byte> held = setup.Allocator.Allocate<byte>(Block);
        setup.Allocator.Prewarm(16 * Block);
        Assert.Equal((4L * Block, 3L * Block), (setup.Statistics.CommittedBytes, setup.Statistics.RetainedBytes));
        using IMemoryOwner<byte> aligned = setup.Allocator.AllocateAligned<byte>(3 * Block, 2 * 1024 * 1024);
        Assert.Equal(4 * Block, setup.Statistics.CommittedBytes);
    }

    [Fact]
    public async Task Dispose_RequestsWait_TheyFail()
    {
        using TestSetup setup = new(budget: Block);
        using IMemoryOwner<byte> held = setup.Allocator.Allocate<byte>(Block);
        Task<IMemoryOwner<byte>> waiting = setup.Allocator.AllocateAsync<byte>(Block).AsTask();
        setup.Allocator.Dispose();
        await Assert.ThrowsAsync<ObjectDisposedException>(() => waiting);
        await Assert.ThrowsAsync<ObjectDisposedException>(async () => await setup.Allocator.AllocateAsync<byte>(Block));
    }

    [Theory]
    [InlineData(SafetyMode.Sampled)]
    [InlineData(SafetyMode.Guarded)]
    public void Allocate_Watched_StaysWithinTheBudget(SafetyMode mode)
    {
        using TestSetup setup = new(options: new MemoryAllocatorOptions { Safety = mode, SafetySampleInterval = 1 }, budget: 8 * Block);
        for (int i = 0; i < 20; i++)
        {
            foreach (string shape in s_shapes)
            {
                Allocate(setup.Allocator, shape).Dispose();
            }
        }

        Assert.Equal((0L, 0L), (setup.Statistics.BudgetUsedBytes, setup.Statistics.BudgetWaits));
        Assert.InRange(setup.Statistics.PeakCommittedBytes, 1, 8 * Block);
    }

    [Fact]
    public void Allocate_ManyThreadsAtTheLimit_NeverHoldsMoreThanTheBudget()
    {
        MemoryAllocatorOptions options = new() { BudgetTimeout = Timeout.InfiniteTimeSpan };
        using MemoryAllocator allocator = new PooledMemoryAllocator(new AllocatorSettings(options)
        {
            ArrayThresholdInBytes = TestSetup.ArrayThreshold,
            SegmentSizeInBytes = TestSetup.SegmentSize,
            Geometry = new PoolGeometry(Block, 8),
            MemoryBudgetInBytes = 12 * Block,
        });
        Parallel.For(0, 4, new ParallelOptions { MaxDegreeOfParallelism = 4 }, worker =>
        {
            Random random = new(worker);
            for (int i = 0; i < 2_000; i++)
            {
                string shape = s_shapes[random.Next(s_shapes.Length)];
                using IDisposable owner = random.Next(4) == 0
                    ? allocator.AllocateAsync<byte>(random.Next(6 * Block)).AsTask().GetAwaiter().GetResult()
                    : Allocate(allocator, shape);
                if (random.Next(50) == 0)
                {
                    allocator.ReleaseRetainedResources();
                }
            }
        });

        MemoryAllocatorStatistics after = allocator.GetStatistics();
        Assert.Equal((0L, 0L, 0L), (after.BudgetUsedBytes, after.OutstandingAllocations, after.RentedBytes));
        Assert.InRange(after.PeakCommittedBytes, 1, 12 * Block);
    }

    private static IDisposable Allocate(MemoryAllocator allocator, string shape) => shape switch
    {
        "block" => allocator.Allocate<byte>(Block),
        "run" => allocator.Allocate<byte>(3 * Block),
        "group" => allocator.AllocateGroup<byte>(4 * Block),
        "mapping" => allocator.AllocateAligned<byte>(4 * Block, 2 * 1024 * 1024),
        "aligned" => allocator.AllocateAligned<byte>(100, 4096),
        "array" => allocator.Allocate<byte>(1000),
        "pixels" => allocator.AllocatePixels<int>(100, 100),
        "lease" => new LeaseHolder(allocator),
        _ => allocator.Allocate<byte>(2 * Block, AllocationOptions.Clean),
    };

    private static IEnumerable<T> Times<T>(int count, Func<T> make)
    {
        for (int i = 0; i < count; i++)
        {
            yield return make();
        }
    }

    // A thread and not the pool's: it blocks.
    private static Task<T> OnAThread<T>(Func<T> action) =>
        Task.Factory.StartNew(action, CancellationToken.None, TaskCreationOptions.LongRunning, TaskScheduler.Default);

    private static void WaitForWaiter(TestSetup setup)
        => Assert.True(SpinWait.SpinUntil(() => setup.Clock.Waits > 0, s_patience), "Nothing waits.");

    // A lease cannot be boxed: it is rented and returned.
    private sealed class LeaseHolder : IDisposable
    {
        private readonly IMemoryOwner<byte> _owner;

        public LeaseHolder(MemoryAllocator allocator)
        {
            using (MemoryLease<byte> lease = allocator.Rent<byte>(3 * Block))
            {
                lease.Span.Fill(1);
            }

            _owner = allocator.Allocate<byte>(Block);
        }

        public void Dispose() => _owner.Dispose();
    }
}
