namespace Allocator.Tests;

/// <summary>Reservations that grow, and what they say of themselves. In blocks of 16 KiB.</summary>
public class MemoryReservationGrowthTests
{
    private const int Block = TestSetup.BlockSize;

    [Fact]
    public async Task TryGrow_ThereIsRoom_AddsToTheReservationAndIsReturnedAtTheEnd()
    {
        using TestSetup setup = new(budget: 8 * Block);
        using (MemoryReservation reservation = await setup.Allocator.ReserveAsync(3 * Block))
        {
            using IMemoryOwner<byte> first = reservation.Allocate<byte>(2 * Block);
            Assert.True(reservation.TryGrow(2 * Block));
            Assert.Equal(
                (5L * Block, 3L * Block, 5L * Block),
                (reservation.ReservedBytes, reservation.RemainingBytes, setup.Statistics.BudgetUsedBytes));
            using IMemoryOwner<byte> second = reservation.Allocate<byte>(3 * Block);
            Assert.Equal((0L, 5L * Block, 0L), (reservation.RemainingBytes, setup.Statistics.BudgetUsedBytes, reservation.OverflowCount));
        }

        Assert.Equal(0, setup.Statistics.BudgetUsedBytes);
    }

    [Fact]
    public async Task TryGrow_NoRoom_ReturnsFalseAtOnceAndNothingChanges()
    {
        using TestSetup setup = new(options: new MemoryAllocatorOptions { BudgetTimeout = Timeout.InfiniteTimeSpan }, budget: 8 * Block);
        using MemoryReservation reservation = await setup.Allocator.ReserveAsync(5 * Block);
        using IMemoryOwner<byte> held = setup.Allocator.Allocate<byte>(2 * Block);
        Assert.False(reservation.TryGrow(2 * Block));
        Assert.False(reservation.TryGrow(4 * Block));
        Assert.False(reservation.TryGrow(long.MaxValue / 2));
        Assert.Equal(
            (5L * Block, 5L * Block, 7L * Block),
            (reservation.ReservedBytes, reservation.RemainingBytes, setup.Statistics.BudgetUsedBytes));
        Assert.True(reservation.TryGrow(Block));
        Assert.True(reservation.TryGrow(0));
        Assert.Equal((6L * Block, 0), (reservation.ReservedBytes, setup.Clock.Waits));
    }

    // Else growth would be granted, and what it was for refused.
    [Fact]
    public async Task TryGrow_MoreOutstandingThanReserved_AddsTheWholeGrowth()
    {
        using TestSetup setup = new(budget: 8 * Block);
        using MemoryReservation reservation = await setup.Allocator.ReserveAsync(2 * Block);
        IMemoryOwner<byte> beyond = reservation.Allocate<byte>(5 * Block);
        Assert.True(reservation.TryGrow(2 * Block));
        using IMemoryOwner<byte> rest = setup.Allocator.Allocate<byte>(Block);
        using (reservation.Allocate<byte>(2 * Block))
        {
            Assert.Equal(
                (0L, 4L * Block, 8L * Block),
                (reservation.RemainingBytes, reservation.ReservedBytes, setup.Statistics.BudgetUsedBytes));
        }

        // What was beyond goes back first, and all of it.
        beyond.Dispose();
        Assert.Equal((4L * Block, 5L * Block), (reservation.RemainingBytes, setup.Statistics.BudgetUsedBytes));
    }

    [Fact]
    public async Task GrowAsync_NoRoom_WaitsUntilThereIs()
    {
        using TestSetup setup = new(budget: 8 * Block);
        using MemoryReservation reservation = await setup.Allocator.ReserveAsync(5 * Block);
        IMemoryOwner<byte> held = setup.Allocator.Allocate<byte>(2 * Block);
        Task growing = reservation.GrowAsync(3 * Block).AsTask();
        Assert.False(growing.IsCompleted);
        held.Dispose();
        await growing;
        Assert.Equal((8L * Block, 8L * Block), (reservation.ReservedBytes, reservation.RemainingBytes));
        reservation.Dispose();
        Assert.Equal(0, setup.Statistics.BudgetUsedBytes);
    }

    [Fact]
    public async Task GrowAsync_Cancelled_LeavesTheReservationAsItWas()
    {
        using TestSetup setup = new(budget: 8 * Block);
        using MemoryReservation reservation = await setup.Allocator.ReserveAsync(5 * Block);
        IMemoryOwner<byte> held = setup.Allocator.Allocate<byte>(2 * Block);
        using CancellationTokenSource source = new();
        Task growing = reservation.GrowAsync(3 * Block, source.Token).AsTask();
        source.Cancel();
        Assert.Equal(source.Token, (await Assert.ThrowsAsync<OperationCanceledException>(() => growing)).CancellationToken);
        await Assert.ThrowsAsync<OperationCanceledException>(async () => await reservation.GrowAsync(1, source.Token));
        held.Dispose();
        Assert.Equal((5L * Block, 5L * Block), (reservation.ReservedBytes, setup.Statistics.BudgetUsedBytes));
    }

    [Fact]
    public async Task GrowAsync_Disposed_EndsTheWaitAndLeavesNothingReserved()
    {
        using TestSetup setup = new(budget: 8 * Block);
        MemoryReservation reservation = await setup.Allocator.ReserveAsync(5 * Block);
        IMemoryOwner<byte> held = setup.Allocator.Allocate<byte>(2 * Block);
        Task growing = reservation.GrowAsync(3 * Block).AsTask();
        Task<IMemoryOwner<byte>> allocating = reservation.AllocateAsync<byte>(8 * Block).AsTask();
        Assert.False(growing.IsCompleted || allocating.IsCompleted);
        reservation.Dispose();
        await Assert.ThrowsAsync<ObjectDisposedException>(() => allocating);
        Assert.Equal(nameof(MemoryReservation), (await Assert.ThrowsAsync<ObjectDisposedException>(() => growing)).ObjectName);
        Assert.Throws<ObjectDisposedException>(() => reservation.TryGrow(1));
        await Assert.ThrowsAsync<ObjectDisposedException>(async () => await reservation.GrowAsync(1));
        held.Dispose();
        Assert.Equal(0, setup.Statistics.BudgetUsedBytes);
    }

    [Fact]
    public async Task GrowAsync_TogetherWithTheReservationMoreThanTheBudget_IsRefusedAtOnceAsNeverFitting()
    {
        using TestSetup setup = new(budget: 8 * Block);
        using MemoryReservation other = await setup.Allocator.ReserveAsync(2 * Block);
        using MemoryReservation reservation = await setup.Allocator.ReserveAsync(5 * Block);
        MemoryLimitExceededException failure =
            await Assert.ThrowsAsync<MemoryLimitExceededException>(async () => await reservation.GrowAsync(4 * Block));
        Assert.Equal(
            (4L * Block, 8L * Block, 3L * Block, false),
            (failure.RequestedBytes, failure.LimitBytes, failure.AvailableBytes, failure.IsTransient));
        Assert.Contains("Requested 65,536 bytes on top of a reservation of 81,920 bytes", failure.Message);
        Assert.Equal(0, setup.Statistics.BudgetWaits);
    }

    // Two jobs that each wait for what the other holds.
    [Fact]
    public async Task GrowAsync_AllReservationsGrow_TheYoungestFailsAtOnceAndTheOtherGoesOn()
    {
        using TestSetup setup = new(budget: 8 * Block);
        using MemoryReservation older = await setup.Allocator.ReserveAsync(4 * Block);
        MemoryReservation younger = await setup.Allocator.ReserveAsync(4 * Block);
        IMemoryOwner<byte> used = younger.Allocate<byte>(3 * Block);
        Task growing = older.GrowAsync(3 * Block).AsTask();
        Assert.False(growing.IsCompleted);
        MemoryLimitExceededException failure =
            await Assert.ThrowsAsync<MemoryLimitExceededException>(async () => await younger.GrowAsync(2 * Block));
        Assert.True(failure.IsTransient);
        Assert.Equal(0, failure.AvailableBytes);
        Assert.Contains(
            "Requested 32,768 bytes beyond a reservation of 65,536 bytes, of which 49,152 are outstanding", failure.Message);
        Assert.EndsWith("Reserve the whole need of a job before it starts.", failure.Message);
        Assert.Equal((4L * Block, Block), (younger.ReservedBytes, younger.RemainingBytes));
        used.Dispose();
        younger.Dispose();
        await growing;
        Assert.Equal(7 * Block, older.ReservedBytes);
    }

    // By the ticks of the trim scheduler, which go on while any request waits.
    [Fact]
    public async Task GrowAsync_OnlyPlainMemoryCouldMakeRoom_FailsAtTheTickAfterFiveSeconds()
    {
        using TestSetup setup = new(
            options: new MemoryAllocatorOptions
            {
                BudgetTimeout = TimeSpan.Zero,
                TrimPeriod = TimeSpan.FromHours(1),
            }, budget: 8 * Block, watchesLoad: true);
        using IMemoryOwner<byte> held = setup.Allocator.Allocate<byte>(4 * Block);
        using MemoryReservation reservation = await setup.Allocator.ReserveAsync(4 * Block);
        setup.Clock.Advance(TimeSpan.FromMilliseconds(500));
        Task growing = reservation.GrowAsync(2 * Block).AsTask();
        setup.Clock.Advance(TimeSpan.FromMilliseconds(4_900));
        Assert.False(growing.IsCompleted);
        setup.Clock.Advance(TimeSpan.FromMilliseconds(1_000));
        MemoryLimitExceededException failure = await Assert.ThrowsAsync<MemoryLimitExceededException>(() => growing);
        Assert.True(failure.IsTransient);
        Assert.Equal(4 * Block, reservation.ReservedBytes);
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task Grow_OfAReservationWithinAReservation_DrawsOnItFirst(bool isAsync)
    {
        using TestSetup setup = new(budget: 8 * Block);
        using MemoryReservation outer = await setup.Allocator.ReserveAsync(4 * Block);
        using (MemoryReservation inner = await outer.ReserveAsync(2 * Block))
        {
            await GrowAsync(inner, 2 * Block);
            Assert.Equal((0L, 4L * Block, 0L), (outer.RemainingBytes, setup.Statistics.BudgetUsedBytes, outer.OverflowCount));
            await GrowAsync(inner, Block);
            Assert.Equal((5L * Block, 5L * Block, 1L), (inner.RemainingBytes, setup.Statistics.BudgetUsedBytes, outer.OverflowCount));
        }

        Assert.Equal((4L * Block, 4L * Block), (outer.RemainingBytes, setup.Statistics.BudgetUsedBytes));

        async Task GrowAsync(MemoryReservation reservation, long bytes)
        {
            if (isAsync)
            {
                await reservation.GrowAsync(bytes);
            }
            else
            {
                Assert.True(reservation.TryGrow(bytes));
            }
        }
    }

    [Fact]
    public async Task Grow_WithoutABudget_SumsOfAbsurdGrowthDoNotWrap()
    {
        using TestSetup setup = new();
        using MemoryReservation reservation = await setup.Allocator.ReserveAsync(Block);
        Assert.True(reservation.TryGrow(long.MaxValue / 32));
        await reservation.GrowAsync(Block);
        Assert.Throws<ArgumentOutOfRangeException>("bytes", () => reservation.TryGrow(long.MaxValue / 32));
        await Assert.ThrowsAsync<ArgumentOutOfRangeException>("bytes", async () => await reservation.GrowAsync(long.MaxValue));
        Assert.Equal(long.MaxValue / 32 + 2 * Block, reservation.ReservedBytes);
        Assert.Equal(reservation.ReservedBytes, reservation.RemainingBytes);
    }

    // Of a reservation within one of which something is used: the sum wrapped, and absurdly much was granted.
    [Theory]
    [InlineData(long.MaxValue)]
    [InlineData(long.MaxValue - 3 * Block)]
    public async Task GrowAndReserve_AbsurdlyMuch_IsRefusedAtOnceAtEachLevel(long bytes)
    {
        using TestSetup setup = new(budget: 8 * Block);
        using MemoryReservation outer = await setup.Allocator.ReserveAsync(4 * Block);
        using IMemoryOwner<byte> used = outer.Allocate<byte>(Block);
        using MemoryReservation inner = await outer.ReserveAsync(2 * Block);
        using MemoryReservation running = await setup.Allocator.ReserveAsync(Block);
        foreach (MemoryReservation reservation in new[] { outer, inner })
        {
            Assert.False(reservation.TryGrow(bytes));
            Assert.False(reservation.TryReserve(bytes, out _));
            Task growing = reservation.GrowAsync(bytes).AsTask();
            Assert.True(growing.IsCompleted);
            Assert.False((await Assert.ThrowsAsync<MemoryLimitExceededException>(() => growing)).IsTransient);
            Task<MemoryReservation> reserving = reservation.ReserveAsync(bytes).AsTask();
            Assert.True(reserving.IsCompleted);
            Assert.False((await Assert.ThrowsAsync<MemoryLimitExceededException>(() => reserving)).IsTransient);
        }

        Assert.Equal((5L * Block, 4L * Block, 2L * Block), (setup.Statistics.BudgetUsedBytes, outer.ReservedBytes, inner.ReservedBytes));
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task Usage_BeyondTheReservation_IsCountedWithAndWithoutABudget(bool hasBudget)
    {
        using TestSetup setup = new(budget: hasBudget ? 16 * Block : null);
        MemoryReservation reservation = await setup.Allocator.ReserveAsync(3 * Block);
        reservation.Allocate<byte>(3 * Block).Dispose();
        Assert.Equal((3L * Block, 0L), (reservation.PeakUsedBytes, reservation.OverflowCount));
        using (reservation.Allocate<byte>(2 * Block))
        using (reservation.Allocate<byte>(2 * Block))
        using (reservation.Allocate<byte>(Block))
        {
            Assert.Equal((5L * Block, 2L), (reservation.PeakUsedBytes, reservation.OverflowCount));
        }

        reservation.Allocate<byte>(Block).Dispose();
        Assert.Equal((5L * Block, 2L), (reservation.PeakUsedBytes, reservation.OverflowCount));
        reservation.Dispose();
        Assert.Equal((5L * Block, 2L, 3L * Block), (reservation.PeakUsedBytes, reservation.OverflowCount, reservation.ReservedBytes));
    }

    // Once while an array has to be made, and once while one lies idle.
    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task Usage_OfAnArrayBeyondTheReservation_IsCountedOnceEach(bool hasBudget)
    {
        using TestSetup setup = new(budget: hasBudget ? 16 * Block : null);
        using MemoryReservation reservation = await setup.Allocator.ReserveAsync(512);
        reservation.Allocate<byte>(1000).Dispose();
        Assert.Equal((1L, 1024L), (reservation.OverflowCount, reservation.PeakUsedBytes));
        reservation.Allocate<byte>(1000).Dispose();
        Assert.Equal((2L, 1024L), (reservation.OverflowCount, setup.Statistics.RetainedBytes));
    }

    [Fact]
    public async Task Usage_BeyondTheReservationRefused_IsNotCounted()
    {
        using TestSetup setup = new(budget: 4 * Block);
        using MemoryReservation reservation = await setup.Allocator.ReserveAsync(3 * Block);
        using IMemoryOwner<byte> held = setup.Allocator.Allocate<byte>(Block);
        Assert.Throws<MemoryLimitExceededException>(() => reservation.Allocate<byte>(4 * Block));
        Assert.Equal(
            (0L, 0L, 4L * Block), (reservation.PeakUsedBytes, reservation.OverflowCount, setup.Statistics.BudgetUsedBytes));
    }

    [Fact]
    public async Task Name_OfAReservation_IsThatOfItsAllocator()
    {
        using TestSetup setup = new(options: new MemoryAllocatorOptions { Name = "photos" });
        using MemoryReservation reservation = await setup.Allocator.ReserveAsync(Block);
        using MemoryReservation inner = await reservation.ReserveAsync(Block);
        using TestSetup unnamed = new();
        Assert.Equal(
            ("photos", "photos", null, "Default"),
            (reservation.Name, inner.Name, unnamed.Allocator.Name, MemoryAllocator.Default.Name));
    }
}
