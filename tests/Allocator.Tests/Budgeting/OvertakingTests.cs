namespace Allocator.Tests.Budgeting;

/// <summary>
/// A request for the whole budget waits, and others try to get past it again and again: in blocks of 16 KiB, of which the budget has 32.
/// </summary>
public class OvertakingTests
{
    private const int Block = TestSetup.BlockSize;
    private const int Bound = 16;

    [Theory]
    [InlineData("plain", false)]
    [InlineData("plain", true)]
    [InlineData("reservation", false)]
    [InlineData("reservation", true)]
    [InlineData("growth of tiny reservations", false)]
    [InlineData("growth of tiny reservations", true)]
    [InlineData("growth beyond twice a reservation", false)]
    [InlineData("growth beyond twice a reservation", true)]
    public async Task Request_PastALargeWaiter_OvertakesSixteenTimesAtMost(string kind, bool isAsync)
    {
        (int reservations, long bytesEach) = kind switch
        {
            "growth of tiny reservations" => (18, 1L),
            "growth beyond twice a reservation" => (2, 2L * Block),
            _ => (0, 0L),
        };
        await using Waiting waiting = await Waiting.StartAsync(reservations, bytesEach);
        MemoryAllocator allocator = waiting.Setup.Allocator;
        int overtakes = 0;
        for (int i = 0; i < 900; i++)
        {
            overtakes += kind switch
            {
                "plain" => await TryAsync(allocator, isAsync, 1000),
                "reservation" => await TryReserveAsync(allocator, isAsync),
                "growth of tiny reservations" => await TryAsync(waiting.Reservations[i % reservations], isAsync, 1000),
                _ => await TryAsync(waiting.Reservations[i % reservations], isAsync, 5 * Block),
            };
        }

        Assert.InRange(overtakes, kind == "reservation" && !isAsync ? Bound : 1, Bound);
        await waiting.ExpectServedAsync();
    }

    // Each allocator has a queue of its own, but there is one container.
    [Theory]
    [InlineData("reservations")]
    [InlineData("jobs")]
    [InlineData("buffers")]
    public async Task Reserve_OfAnotherAllocatorInTheContainerPastALargeWaiter_SixteenTimesAtMost(string what)
    {
        using TestSetup setup = new(maximumBlocks: 64, minimumFree: 2 * Block);
        using TestSetup other = new(maximumBlocks: 64, sharesTimeWith: setup, minimumFree: 2 * Block);
        setup.Left.Now = new Headroom(100 * Block, 100 * Block, 100 * Block);
        setup.Clock.Advance(TimeSpan.FromSeconds(1));
        MemoryReservation held = await other.Allocator.ReserveAsync(40 * Block);
        Task<MemoryReservation> waiting = setup.Allocator.ReserveAsync(70 * Block).AsTask();
        int overtakes = 0;
        for (int round = 0; round < 100; round++)
        {
            overtakes += what switch
            {
                "buffers" => await TryAsync(other.Allocator, isAsync: true, 1000),
                "jobs" => Reserve(other.Allocator.TryReserve("tiny", out MemoryReservation? job), job),
                _ => Reserve(other.Allocator.TryReserve(1, out MemoryReservation? tiny), tiny),
            };
        }

        Assert.Equal(Bound, overtakes);
        Assert.False(waiting.IsCompleted);
        held.Dispose();
        setup.Settings.Headroom.Measure();
        setup.Allocator.Allocate<byte>(1).Dispose();
        (await waiting.WaitAsync(TimeSpan.FromSeconds(30))).Dispose();
        Assert.True(other.Allocator.TryReserve(70 * Block, out MemoryReservation? last));
        last.Dispose();

        static int Reserve(bool isServed, MemoryReservation? reservation)
        {
            reservation?.Dispose();
            return isServed ? 1 : 0;
        }
    }

    // The bound is that of the first in line. Counted for each that waits, it would soon keep small requests behind all large ones.
    [Fact]
    public async Task Allocate_PastALineOfTen_OvertakesEachFirstSixteenTimes()
    {
        using TestSetup setup = new(maximumBlocks: 32, budget: 32 * Block);
        MemoryReservation running = await setup.Allocator.ReserveAsync(30 * Block);
        List<Task<MemoryReservation>> line = [];
        for (int i = 0; i < 10; i++)
        {
            line.Add(setup.Allocator.ReserveAsync(30 * Block).AsTask());
        }

        foreach (Task<MemoryReservation> first in line)
        {
            int overtakes = 0;
            for (int i = 0; i < 2 * Bound; i++)
            {
                Assert.False(first.IsCompleted);
                overtakes += await TryAsync(setup.Allocator, isAsync: false, 1000);
            }

            Assert.Equal(Bound, overtakes);
            running.Dispose();
            running = await first.WaitAsync(TimeSpan.FromSeconds(30));
        }

        running.Dispose();
        Assert.Equal(0, setup.Statistics.BudgetUsedBytes);
    }

    // Of alike jobs that wait, only the first is tried. Smaller ones of the same power of two may fit where it does not.
    [Fact]
    public async Task ReserveAsync_SmallerJobBehindLargerOnesOfTheName_IsServedBeforeThem()
    {
        using TestSetup setup = new(maximumBlocks: 64, budget: 40 * Block);
        using (MemoryReservation first = await setup.Allocator.ReserveAsync("job", 100))
        {
            first.Allocate<byte>(16 * Block).Dispose();
        }

        using MemoryReservation running = await setup.Allocator.ReserveAsync(22 * Block);
        Task<MemoryReservation>[] larger = [.. Enumerable.Range(0, 3).Select(_ => setup.Allocator.ReserveAsync("job", 125).AsTask())];
        using MemoryReservation smaller = await setup.Allocator.ReserveAsync("job", 100).AsTask().WaitAsync(TimeSpan.FromSeconds(30));
        Assert.Equal(16 * Block, smaller.ReservedBytes);
        Assert.DoesNotContain(larger, waiting => waiting.IsCompleted);
        smaller.Dispose();
        running.Dispose();
        foreach (Task<MemoryReservation> waiting in larger)
        {
            using MemoryReservation served = await waiting.WaitAsync(TimeSpan.FromSeconds(30));
            Assert.Equal(20 * Block, served.ReservedBytes);
        }
    }

    // Else a job that has begun would wait for the head, and the head for the job.
    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task Allocate_GrowthUpToTwiceAReservation_GoesAheadOfNewcomers(bool isAsync)
    {
        await using Waiting waiting = await Waiting.StartAsync(reservations: 1, bytesEach: 4 * Block);
        int granted = 0;
        for (int round = 0; round < 100; round++)
        {
            granted += await TryAsync(waiting.Reservations[0], isAsync, 8 * Block);
        }

        Assert.Equal(100, granted);
        await waiting.ExpectServedAsync();
    }

    private static async Task<int> TryAsync(MemoryAllocator allocator, bool isAsync, int length)
    {
        if (!isAsync)
        {
            try
            {
                allocator.Allocate<byte>(length).Dispose();
                return 1;
            }
            catch (MemoryLimitExceededException)
            {
                return 0;
            }
        }

        using CancellationTokenSource source = new();
        Task<IMemoryOwner<byte>> allocating = allocator.AllocateAsync<byte>(length, cancellationToken: source.Token).AsTask();
        if (allocating.IsCompletedSuccessfully)
        {
            (await allocating).Dispose();
            return 1;
        }

        source.Cancel();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => allocating);
        return 0;
    }

    // A new reservation each time is a newcomer each time.
    private static async Task<int> TryReserveAsync(MemoryAllocator allocator, bool isAsync)
    {
        if (!isAsync)
        {
            bool isServed = allocator.TryReserve(1, out MemoryReservation? tiny);
            tiny?.Dispose();
            return isServed ? 1 : 0;
        }

        using CancellationTokenSource source = new();
        Task<MemoryReservation> reserving = allocator.ReserveAsync(1, source.Token).AsTask();
        if (reserving.IsCompletedSuccessfully)
        {
            (await reserving).Dispose();
            return 1;
        }

        source.Cancel();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => reserving);
        return 0;
    }

    private sealed class Waiting : IAsyncDisposable
    {
        private readonly IMemoryOwner<byte> _held;
        private readonly Task<MemoryReservation> _large;

        private Waiting(TestSetup setup, List<MemoryReservation> reservations)
        {
            Setup = setup;
            Reservations = reservations;
            _held = setup.Allocator.Allocate<byte>(8 * Block);
            _large = setup.Allocator.ReserveAsync(32 * Block).AsTask();
            Assert.False(_large.IsCompleted);
        }

        public TestSetup Setup { get; }

        public List<MemoryReservation> Reservations { get; }

        public static async Task<Waiting> StartAsync(int reservations, long bytesEach)
        {
            TestSetup setup = new(maximumBlocks: 32, budget: 32 * Block);
            List<MemoryReservation> made = [];
            foreach (int _ in Enumerable.Range(0, reservations))
            {
                made.Add(await setup.Allocator.ReserveAsync(bytesEach));
            }

            return new Waiting(setup, made);
        }

        public async Task ExpectServedAsync()
        {
            Assert.False(_large.IsCompleted);
            _held.Dispose();
            Reservations.ForEach(static reservation => reservation.Dispose());
            (await _large.WaitAsync(TimeSpan.FromSeconds(30))).Dispose();
            Assert.Equal(0, Setup.Statistics.BudgetUsedBytes);
        }

        public ValueTask DisposeAsync()
        {
            _held.Dispose();
            Setup.Dispose();
            return default;
        }
    }
}
