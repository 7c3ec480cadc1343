using System.Diagnostics.Tracing;
using Allocator.Tests.Diagnostics;

namespace Allocator.Tests;

/// <summary>Reservations that do not wait, or not for ever. In blocks of 16 KiB.</summary>
public class TimedReservationTests
{
    private const int Block = TestSetup.BlockSize;

    private static readonly TimeSpan s_patience = TimeSpan.FromSeconds(30);

    [Fact]
    public void TryReserve_ThereIsRoom_TakesIt()
    {
        using TestSetup setup = new(budget: 8 * Block);
        Assert.True(setup.Allocator.TryReserve(5 * Block, out MemoryReservation? reservation));
        Assert.Equal((5L * Block, 5L * Block), (reservation.RemainingBytes, setup.Statistics.BudgetUsedBytes));
        Assert.True(reservation.TryReserve(2 * Block, out MemoryReservation? inner));
        Assert.Equal(3 * Block, reservation.RemainingBytes);
        inner.Dispose();
        reservation.Dispose();
        Assert.Equal(0, setup.Statistics.BudgetUsedBytes);
    }

    [Fact]
    public async Task TryReserve_NoRoom_ReturnsFalseAtOnce()
    {
        using TestSetup setup = new(options: new MemoryAllocatorOptions { BudgetTimeout = Timeout.InfiniteTimeSpan }, budget: 8 * Block);
        using MemoryReservation held = await setup.Allocator.ReserveAsync(5 * Block);
        foreach (long bytes in new[] { 4 * Block, 9 * Block, long.MaxValue })
        {
            Assert.False(setup.Allocator.TryReserve(bytes, out MemoryReservation? none));
            Assert.Null(none);
        }

        Assert.Equal((5L * Block, 0, 1L), (setup.Statistics.BudgetUsedBytes, setup.Clock.Waits, setup.Statistics.BudgetWaits));
    }

    [Fact]
    public async Task Reserve_AbsurdWithoutABudget_IsRefusedByName()
    {
        using TestSetup setup = new();
        Assert.Throws<ArgumentOutOfRangeException>("bytes", () => setup.Allocator.TryReserve(long.MaxValue / 16, out _));
        await Assert.ThrowsAsync<ArgumentOutOfRangeException>(
            "bytes", async () => await setup.Allocator.ReserveAsync(long.MaxValue / 16, s_patience));
        Assert.True(setup.Allocator.TryReserve(1L << 50, out MemoryReservation? reservation));
        reservation.Dispose();
    }

    [Fact]
    public async Task Reserve_Disposed_Throws()
    {
        TestSetup setup = new(budget: 8 * Block);
        MemoryReservation reservation = await setup.Allocator.ReserveAsync(Block, s_patience);
        setup.Dispose();
        Assert.Throws<ObjectDisposedException>(() => setup.Allocator.TryReserve(Block, out _));
        Assert.Throws<ObjectDisposedException>(() => reservation.TryReserve(Block, out _));
        await Assert.ThrowsAsync<ObjectDisposedException>(async () => await setup.Allocator.ReserveAsync(Block, TimeSpan.Zero));
    }

    [Theory]
    [InlineData(-2)]
    [InlineData(-10_000)]
    public async Task ReserveAsync_TimeoutNegative_IsRefusedByName(int milliseconds)
    {
        using TestSetup setup = new(budget: 8 * Block);
        ArgumentOutOfRangeException failure = await Assert.ThrowsAsync<ArgumentOutOfRangeException>(
            "timeout", async () => await setup.Allocator.ReserveAsync(Block, TimeSpan.FromMilliseconds(milliseconds)));
        Assert.Equal(TimeSpan.FromMilliseconds(milliseconds), failure.ActualValue);
    }

    [Fact]
    public async Task ReserveAsync_TimeoutZero_NeverWaits()
    {
        using TestSetup setup = new(budget: 8 * Block);
        using MemoryReservation held = await setup.Allocator.ReserveAsync(5 * Block, TimeSpan.Zero);
        ValueTask<MemoryReservation> refused = setup.Allocator.ReserveAsync(4 * Block, TimeSpan.Zero);
        Assert.True(refused.IsCompleted);
        MemoryLimitExceededException failure = await Assert.ThrowsAsync<MemoryLimitExceededException>(async () => await refused);
        Assert.Equal(
            (4L * Block, 8L * Block, 3L * Block, true),
            (failure.RequestedBytes, failure.LimitBytes, failure.AvailableBytes, failure.IsTransient));
        MemoryLimitExceededException never =
            await Assert.ThrowsAsync<MemoryLimitExceededException>(async () => await setup.Allocator.ReserveAsync(9 * Block, s_patience));
        Assert.False(never.IsTransient);
        Assert.Equal(5 * Block, setup.Statistics.BudgetUsedBytes);
    }

    [Fact]
    public async Task ReserveAsync_TimeoutInfinite_WaitsForever()
    {
        using TestSetup setup = new(budget: 8 * Block);
        MemoryReservation held = await setup.Allocator.ReserveAsync(5 * Block);
        Task<MemoryReservation> waiting = setup.Allocator.ReserveAsync(4 * Block, Timeout.InfiniteTimeSpan).AsTask();
        setup.Clock.Advance(TimeSpan.FromDays(100));
        Assert.False(waiting.IsCompleted);
        held.Dispose();
        (await waiting).Dispose();
    }

    [Fact]
    public async Task ReserveAsync_NoRoomInTime_FailsThenAndLetsTheNextIn()
    {
        using TestSetup setup = new(budget: 8 * Block);
        MemoryReservation held = await setup.Allocator.ReserveAsync(5 * Block);
        Task<MemoryReservation> later = setup.Allocator.ReserveAsync(8 * Block, TimeSpan.FromSeconds(20)).AsTask();
        Task<MemoryReservation> waiting = setup.Allocator.ReserveAsync(4 * Block, TimeSpan.FromSeconds(10)).AsTask();
        setup.Clock.Advance(TimeSpan.FromSeconds(9));
        Assert.False(waiting.IsCompleted);

        setup.Clock.Advance(TimeSpan.FromSeconds(1));
        MemoryLimitExceededException failure = await Assert.ThrowsAsync<MemoryLimitExceededException>(() => waiting.WaitAsync(s_patience));
        Assert.True(failure.IsTransient);
        Assert.Contains("00:00:10 (its timeout)", failure.Message);
        Assert.DoesNotContain("BudgetTimeout", failure.Message);
        Assert.False(later.IsCompleted);
        held.Dispose();
        (await later.WaitAsync(s_patience)).Dispose();
        Assert.Equal(0, setup.Statistics.BudgetUsedBytes);
    }

    [Fact]
    public async Task ReserveAsync_RoomBeforeTheTimeout_CompletesAndDropsTheTimeout()
    {
        using TestSetup setup = new(budget: 8 * Block);
        MemoryReservation held = await setup.Allocator.ReserveAsync(5 * Block);
        IEnumerable<int> days = Enumerable.Range(1, 20).Select(static i => i * 7 % 20 + 1);
        Task<MemoryReservation>[] waiting =
            [.. days.Select(day => setup.Allocator.ReserveAsync(Block * 4, TimeSpan.FromDays(day)).AsTask())];
        held.Dispose();
        foreach (Task<MemoryReservation> next in waiting)
        {
            (await next.WaitAsync(s_patience)).Dispose();
        }

        Assert.Equal(1, setup.Clock.RunningTimers);
        Assert.Equal(0, setup.Statistics.BudgetUsedBytes);
    }

    // In any order of their times.
    [Fact]
    public async Task ReserveAsync_ManyTimeouts_EachEndsAtItsOwn()
    {
        using TestSetup setup = new(budget: 8 * Block);
        using MemoryReservation held = await setup.Allocator.ReserveAsync(8 * Block);
        Dictionary<int, Task<MemoryReservation>> waiting =
            Enumerable.Range(0, 10).Select(static i => i * 7 % 10 + 1)
                .ToDictionary(static s => s, s => setup.Allocator.ReserveAsync(Block, TimeSpan.FromSeconds(s)).AsTask());
        for (int second = 1; second <= 10; second++)
        {
            setup.Clock.Advance(TimeSpan.FromSeconds(1));
            await Assert.ThrowsAsync<MemoryLimitExceededException>(() => waiting[second].WaitAsync(s_patience));
            Assert.Equal(10 - second, waiting.Values.Count(static task => !task.IsCompleted));
        }
    }

    [Fact]
    public async Task ReserveAsync_CancelledBeforeTheTimeout_ThrowsThatAndDropsTheTimeout()
    {
        using TestSetup setup = new(budget: 8 * Block);
        using MemoryReservation held = await setup.Allocator.ReserveAsync(8 * Block);
        using CancellationTokenSource source = new();
        Task<MemoryReservation> waiting = setup.Allocator.ReserveAsync(Block, s_patience, source.Token).AsTask();
        source.Cancel();
        OperationCanceledException failure = await Assert.ThrowsAsync<OperationCanceledException>(() => waiting.WaitAsync(s_patience));
        Assert.Equal(source.Token, failure.CancellationToken);
        Assert.Equal(1, setup.Clock.RunningTimers);
    }

    [Fact]
    public async Task ReserveAsync_DisposedBeforeTheTimeout_ThrowsThatAndDropsTheTimeout()
    {
        TestSetup setup = new(budget: 8 * Block);
        using MemoryReservation running = await setup.Allocator.ReserveAsync(2 * Block);
        using MemoryReservation held = await setup.Allocator.ReserveAsync(6 * Block);
        Task<MemoryReservation> ofAllocator = setup.Allocator.ReserveAsync(7 * Block, s_patience).AsTask();
        Task<MemoryReservation> ofReservation = held.ReserveAsync(7 * Block, s_patience).AsTask();
        Assert.False(ofAllocator.IsCompleted || ofReservation.IsCompleted);
        held.Dispose();
        await Assert.ThrowsAsync<ObjectDisposedException>(() => ofReservation.WaitAsync(s_patience));
        setup.Dispose();
        await Assert.ThrowsAsync<ObjectDisposedException>(() => ofAllocator.WaitAsync(s_patience));
        Assert.Equal(1, setup.Clock.RunningTimers);
    }

    // A continuation that takes long must not hold up the times of others.
    [Fact]
    public async Task ReserveAsync_NoRoomInTime_DoesNotContinueOnTheBackgroundThread()
    {
        using TestSetup setup = new(budget: 8 * Block);
        using MemoryReservation held = await setup.Allocator.ReserveAsync(8 * Block);
        Task<bool> first = ContinueAsync(TimeSpan.FromSeconds(1));
        Task<bool> second = ContinueAsync(TimeSpan.FromSeconds(2));
        setup.Clock.Advance(TimeSpan.FromSeconds(1));
        Assert.True(await first.WaitAsync(s_patience));
        setup.Clock.Advance(TimeSpan.FromSeconds(1));
        Assert.True(await second.WaitAsync(s_patience));

        async Task<bool> ContinueAsync(TimeSpan timeout)
        {
            try
            {
                using MemoryReservation none = await setup.Allocator.ReserveAsync(Block, timeout).ConfigureAwait(false);
                return false;
            }
            catch (MemoryLimitExceededException)
            {
                // A thread of the pool, or one that is started if the pool is busy.
                return !BackgroundThread.Shared.IsCurrent && !BackgroundThread.Long.IsCurrent;
            }
        }
    }

    // All threads of the pool may be waiting for memory themselves, by code that blocks on tasks: then no timer is called, and no item
    // of the pool is done.
    [Fact]
    public void ReserveAsync_AllThreadsOfThePoolAreBlocked_EndsInTimeAndIsGrantedInTime() => RemoteExecutor.Invoke(static () =>
    {
        using MemoryAllocator allocator = MemoryAllocator.Create(new MemoryAllocatorOptions { MemoryBudgetMegabytes = 4 });
        Assert.True(allocator.TryReserve(4 << 20, out MemoryReservation? held));
        using ManualResetEventSlim end = new();
        QueuedWork.BlockThreadPool(end);
        Task<MemoryReservation> refused = allocator.ReserveAsync(1 << 20, TimeSpan.FromMilliseconds(50)).AsTask();
        Task<MemoryReservation> granted = allocator.ReserveAsync(4 << 20, TimeSpan.FromHours(1)).AsTask();
        AggregateException failure = Assert.Throws<AggregateException>(() => refused.Wait(s_patience));
        Assert.True(Assert.IsType<MemoryLimitExceededException>(failure.InnerException).IsTransient);
        held.Dispose();
        Assert.True(granted.Wait(s_patience), "It waits for a thread of the pool.");
        granted.Result.Dispose();
        end.Set();
        Assert.Equal(0, allocator.GetStatistics().BudgetUsedBytes);
    }).Dispose();

    // Between the request's place in the queue and its time: it is settled before it has one.
    [Fact]
    public void ReserveAsync_CancelledWhileItIsPosted_IsCancelled() => RemoteExecutor.Invoke(static () =>
    {
        using MemoryAllocator allocator = MemoryAllocator.Create(new MemoryAllocatorOptions { MemoryBudgetMegabytes = 4 });
        Assert.True(allocator.TryReserve(4 << 20, out MemoryReservation? held));
        using CancellationTokenSource cancellation = new();
        using AllocatorEventListener listener = new(EventLevel.Informational, AllocatorEventListener.Budget, _ => cancellation.Cancel());

        Task<MemoryReservation> cancelled = allocator.ReserveAsync(1 << 20, TimeSpan.FromHours(1), cancellation.Token).AsTask();

        AggregateException failure = Assert.Throws<AggregateException>(() => cancelled.Wait(s_patience));
        Assert.IsAssignableFrom<OperationCanceledException>(failure.InnerException);
        held.Dispose();
        Assert.Equal(0, allocator.GetStatistics().BudgetUsedBytes);
    }).Dispose();
}
