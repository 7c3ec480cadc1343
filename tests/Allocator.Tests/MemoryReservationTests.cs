namespace Allocator.Tests;

public class MemoryReservationTests
{
    private const int Block = TestSetup.BlockSize;
    private const int Page = 4096;

    [Fact]
    public async Task Allocate_OfAReservation_DrawsOnIt()
    {
        using TestSetup setup = new(budget: 8 * Block);
        using MemoryReservation reservation = await setup.Allocator.ReserveAsync(5 * Block);
        Assert.Equal((5L * Block, 5L * Block), (reservation.ReservedBytes, reservation.RemainingBytes));
        Assert.Throws<MemoryLimitExceededException>(() => setup.Allocator.Allocate<byte>(4 * Block));

        using (IMemoryOwner<byte> owner = reservation.Allocate<byte>(2 * Block))
        using (PixelBuffer<int> pixels = reservation.AllocatePixels<int>(64, 128))
        using (MemoryLease<byte> lease = reservation.Rent<byte>(10))
        {
            Assert.Equal(
                (5L * Block - 2 * Block - 2 * Block - 16, 5L * Block), (reservation.RemainingBytes, setup.Statistics.BudgetUsedBytes));
            using PixelBuffer<int> clone = pixels.Clone();
            Assert.Equal((0L, 6L * Block + 16), (reservation.RemainingBytes, setup.Statistics.BudgetUsedBytes));
        }

        Assert.Equal((5L * Block, 5L * Block), (reservation.RemainingBytes, setup.Statistics.BudgetUsedBytes));
    }

    /// <summary>An array of 1,024 bytes, one block, two blocks, more than the pool has: other jobs have reserved all that is rounded up.</summary>
    [Theory]
    [InlineData(600)]
    [InlineData(3 * Page)]
    [InlineData(5 * Page)]
    [InlineData(20 * Block + Page)]
    public async Task Allocate_ReservationIsNoWholeBlock_IsGrantedAtOnce(int bytes)
    {
        int width = Math.Min(1024, bytes / 8);
        using TestSetup setup = new(budget: 2 * bytes);
        using MemoryReservation other = await setup.Allocator.ReserveAsync(bytes);
        using MemoryReservation reservation = await setup.Allocator.ReserveAsync(bytes);
        foreach (MemoryReservation job in new[] { other, reservation })
        {
            foreach (Func<IDisposable> allocate in (Func<IDisposable>[])[
                () => job.Allocate<byte>(bytes),
                () => job.AllocateGroup<byte>(bytes),
                () => job.AllocatePixels<byte>(width, bytes / width),
                () => job.AsMemoryPool<byte>().Rent(bytes),
                () => Completed(job.AllocateAsync<byte>(bytes))])
            {
                using IDisposable owner = allocate();
                Assert.Equal((0L, 2L * bytes), (job.RemainingBytes, setup.Statistics.BudgetUsedBytes));
            }
        }

        Assert.Equal((0L, (long)bytes, 2L * bytes), (reservation.OverflowCount, reservation.RemainingBytes, setup.Statistics.BudgetUsedBytes));

        static IDisposable Completed<T>(ValueTask<IMemoryOwner<T>> task)
        {
            Assert.True(task.IsCompletedSuccessfully);
            return task.Result;
        }
    }

    [Fact]
    public async Task Allocate_ReservationEndsWithinAPage_TakesTheRestOfThePageFromTheBudget()
    {
        const int Bytes = 2 * Page + 1;
        using TestSetup setup = new(budget: 3 * Page + Bytes);
        using MemoryReservation other = await setup.Allocator.ReserveAsync(3 * Page);
        using MemoryReservation reservation = await setup.Allocator.ReserveAsync(Bytes);
        Assert.Throws<MemoryLimitExceededException>(() => reservation.Allocate<byte>(Bytes));
        other.Dispose();
        using IMemoryOwner<byte> held = setup.Allocator.Allocate<byte>(Page / 8);
        using MemoryReservation third = await setup.Allocator.ReserveAsync(Page);
        using IMemoryOwner<byte> owner = reservation.Allocate<byte>(Bytes);

        Assert.Equal((0L, 1L), (reservation.RemainingBytes, reservation.OverflowCount));
        Assert.Equal(4 * Page + (Page / 8), setup.Statistics.BudgetUsedBytes);
    }

    [Fact]
    public async Task Allocate_BudgetHasRoomForWholeBlocks_TakesThem()
    {
        using TestSetup setup = new(budget: 8 * Block);
        using MemoryReservation reservation = await setup.Allocator.ReserveAsync(3 * Page);
        using IMemoryOwner<byte> owner = reservation.Allocate<byte>(3 * Page);

        Assert.Equal((0L, (long)Block), (reservation.RemainingBytes, setup.Statistics.BudgetUsedBytes));
    }

    [Fact]
    public async Task ReserveAsync_NoRoom_WaitsForIt()
    {
        using TestSetup setup = new(budget: 8 * Block);
        MemoryReservation first = await setup.Allocator.ReserveAsync(5 * Block);
        Task<MemoryReservation> second = setup.Allocator.ReserveAsync(5 * Block).AsTask();
        Assert.False(second.IsCompleted);
        first.Dispose();
        using MemoryReservation admitted = await second;
        Assert.Equal(5 * Block, setup.Statistics.BudgetUsedBytes);
    }

    // The advice for a reservation that was disposed, to use the allocator instead, would be wrong.
    [Fact]
    public async Task Use_OnlyTheAllocatorIsDisposed_NamesTheAllocator()
    {
        using TestSetup setup = new(budget: 8 * Block);
        using MemoryReservation open = await setup.Allocator.ReserveAsync(Block);
        MemoryReservation closed = await setup.Allocator.ReserveAsync(Block);
        closed.Dispose();
        Assert.Equal(nameof(MemoryReservation), Assert.Throws<ObjectDisposedException>(() => closed.Use()).ObjectName);
        setup.Dispose();
        Assert.Equal(nameof(MemoryAllocator), Assert.Throws<ObjectDisposedException>(() => open.Use()).ObjectName);
        Assert.Equal(nameof(MemoryAllocator), Assert.Throws<ObjectDisposedException>(() => open.Allocate<byte>(1)).ObjectName);
        Assert.Equal(nameof(MemoryAllocator), Assert.Throws<ObjectDisposedException>(() => open.TryGrow(1)).ObjectName);
    }

    [Fact]
    public async Task Dispose_MemoryOutstanding_StaysChargedToTheParent()
    {
        using TestSetup setup = new(budget: 8 * Block);
        MemoryReservation reservation = await setup.Allocator.ReserveAsync(5 * Block);
        IMemoryOwner<byte> owner = reservation.Allocate<byte>(2 * Block);
        setup.Allocator.Allocate<byte>(Block).Dispose();
        Assert.Equal((3L * Block, 5L * Block), (reservation.RemainingBytes, setup.Statistics.BudgetUsedBytes));
        reservation.Dispose();
        reservation.Dispose();
        Assert.Equal((0L, 2L * Block), (reservation.RemainingBytes, setup.Statistics.BudgetUsedBytes));
        owner.Memory.Span.Fill(1);
        Assert.Throws<ObjectDisposedException>(() => reservation.Allocate<byte>(1));
        Assert.Throws<ObjectDisposedException>(() => reservation.Prewarm(1));
        await Assert.ThrowsAsync<ObjectDisposedException>(async () => await reservation.AllocateAsync<byte>(1));
        await Assert.ThrowsAsync<ObjectDisposedException>(async () => await reservation.ReserveAsync(1));
        owner.Dispose();
        Assert.Equal(0, setup.Statistics.BudgetUsedBytes);
    }

    [Fact]
    public async Task PrewarmReleaseAndLoad_OfAReservation_AreItsAllocators()
    {
        using TestSetup setup = new(budget: 8 * Block);
        using MemoryReservation reservation = await setup.Allocator.ReserveAsync(3 * Block);
        reservation.Prewarm(2 * Block);
        Assert.Equal(2 * Block, setup.Statistics.RetainedBytes);
        reservation.ReleaseRetainedResources();
        Assert.Equal(0, setup.Statistics.RetainedBytes);
        Assert.Equal(setup.Allocator.GetMemoryLoad().Source, reservation.GetMemoryLoad().Source);
    }

    [Fact]
    public async Task AllocateAsync_BeyondTheReservation_WaitsLikeAnyRequest()
    {
        using TestSetup setup = new(budget: 8 * Block);
        IMemoryOwner<byte> held = setup.Allocator.Allocate<byte>(4 * Block);
        using MemoryReservation reservation = await setup.Allocator.ReserveAsync(3 * Block);
        Assert.Throws<MemoryLimitExceededException>(() => reservation.Allocate<byte>(5 * Block));
        Task<IMemoryOwner<byte>> waiting = reservation.AllocateAsync<byte>(5 * Block).AsTask();
        Assert.False(waiting.IsCompleted);
        held.Dispose();
        (await waiting).Dispose();
        Assert.Equal((3L * Block, 3L * Block), (setup.Statistics.BudgetUsedBytes, reservation.RemainingBytes));
    }

    // Two jobs that each hold half of what they need, and wait for the rest.
    [Fact]
    public async Task AllocateAsync_AllReservationsWait_TheYoungestFailsAndTheOtherGoesOn()
    {
        using TestSetup setup = new(budget: 8 * Block);
        MemoryReservation older = await setup.Allocator.ReserveAsync(4 * Block);
        MemoryReservation younger = await setup.Allocator.ReserveAsync(4 * Block);
        IMemoryOwner<byte> ofOlder = older.Allocate<byte>(4 * Block);
        IMemoryOwner<byte> ofYounger = younger.Allocate<byte>(3 * Block);
        younger.Allocate<byte>(Block).Dispose();
        Task<IMemoryOwner<byte>> moreForOlder = older.AllocateAsync<byte>(2 * Block).AsTask();
        Assert.False(moreForOlder.IsCompleted);
        MemoryLimitExceededException failure = await Assert.ThrowsAsync<MemoryLimitExceededException>(
            async () => await younger.AllocateAsync<byte>(2 * Block));
        Assert.Contains("youngest", failure.Message);
        Assert.Contains(
            "Requested 32,768 bytes beyond a reservation of 65,536 bytes, of which 49,152 are outstanding (peak 65,536).", failure.Message);
        Assert.False(moreForOlder.IsCompleted);

        ofYounger.Dispose();
        younger.Dispose();
        (await moreForOlder).Dispose();
        ofOlder.Dispose();
        older.Dispose();
        Assert.Equal(0, setup.Statistics.BudgetUsedBytes);
    }

    [Fact]
    public async Task ReserveAsync_WithoutABudget_CompletesAtOnceAndLimitsNothing()
    {
        using TestSetup setup = new();
        ValueTask<MemoryReservation> admission = setup.Allocator.ReserveAsync(1L << 50);
        Assert.True(admission.IsCompletedSuccessfully);
        (await admission).Dispose();
        using MemoryReservation reservation = await setup.Allocator.ReserveAsync(2 * Block);
        using (reservation.Allocate<byte>(Block))
        {
            Assert.Equal(Block, reservation.RemainingBytes);
            using IMemoryOwner<byte> beyond = reservation.Allocate<byte>(20 * Block);
            Assert.Equal(0, reservation.RemainingBytes);
        }

        Assert.Equal((2L * Block, 0L), (reservation.RemainingBytes, setup.Statistics.BudgetUsedBytes));
    }

    [Fact]
    public async Task ReserveAsync_OfAReservation_DrawsOnIt()
    {
        using TestSetup setup = new(budget: 8 * Block);
        using MemoryReservation outer = await setup.Allocator.ReserveAsync(6 * Block);
        using (MemoryReservation inner = await outer.ReserveAsync(4 * Block))
        {
            Assert.Equal(2 * Block, outer.RemainingBytes);
            using IMemoryOwner<byte> owner = inner.Allocate<byte>(Block);
            Assert.Equal((3L * Block, 2L * Block), (inner.RemainingBytes, outer.RemainingBytes));

            // Beyond the inner one, and then beyond both.
            using MemoryGroup<byte> beyond = inner.AllocateGroup<byte>(4 * Block);
            Assert.Equal((1L * Block, 6L * Block), (outer.RemainingBytes, setup.Statistics.BudgetUsedBytes));
            using IMemoryOwner<byte> farBeyond = inner.Allocate<byte>(2 * Block);
            Assert.Equal((0L, 7L * Block), (outer.RemainingBytes, setup.Statistics.BudgetUsedBytes));
        }

        Assert.Equal((6L * Block, 6L * Block), (outer.RemainingBytes, setup.Statistics.BudgetUsedBytes));
    }

    [Fact]
    public async Task ReserveAsync_ZeroBytes_ChargesAllocationsToTheBudget()
    {
        using TestSetup setup = new(budget: 8 * Block);
        using MemoryReservation nothing = await setup.Allocator.ReserveAsync(0);
        using IMemoryOwner<byte> owner = nothing.Allocate<byte>(Block);
        Assert.Equal(Block, setup.Statistics.BudgetUsedBytes);
    }

    [Theory]
    [InlineData(10, 10, 4, 1)]
    [InlineData(100, 100, 4, 3)]
    [InlineData(64, 128, 3, 2)]
    [InlineData(2_000, 300, 4, 2)]
    [InlineData(5_000, 1, 8, 1)]
    [InlineData(30_000, 4, 8, 1)]
    public async Task EstimatePixelBytes_OfTheJobsBuffers_IsEnoughAndBelowTwiceTheNeed(
        int width, int height, int pixelSize, int copies)
    {
        using TestSetup setup = new(maximumBlocks: 8, budget: 4096 * Block);
        long estimate = setup.Allocator.EstimatePixelBytes(width, height, pixelSize, copies);
        using MemoryReservation reservation = await setup.Allocator.ReserveAsync(estimate);
        IDisposable[] buffers = [.. Enumerable.Range(0, copies).Select(_ => AllocatePixels(reservation, width, height, pixelSize))];
        long used = setup.Statistics.BudgetUsedBytes;
        Array.ForEach(buffers, static buffer => buffer.Dispose());
        Assert.Equal(estimate, used);
        Assert.InRange(estimate, (long)width * height * pixelSize * copies, Math.Max(2 * Block, 2L * width * height * pixelSize) * copies);
    }

    [Fact]
    public async Task TrackExternalMemory_WithinAReservation_IdleMemoryMakesRoom()
    {
        using TestSetup setup = new(budget: 8 * Block);
        setup.Allocator.AllocateGroup<byte>(8 * Block).Dispose();
        using MemoryReservation reservation = await setup.Allocator.ReserveAsync(6 * Block);
        Assert.Equal(8 * Block, setup.Statistics.CommittedBytes);
        using (IMemoryOwner<byte> pixels = reservation.Allocate<byte>(2 * Block))
        {
            IDisposable decoder = reservation.TrackExternalMemory(4 * Block);
            Assert.Equal(
                (4L * Block, 0L, 6L * Block),
                (setup.Statistics.CommittedBytes, reservation.RemainingBytes, setup.Statistics.BudgetUsedBytes));

            // What is held never exceeds the budget, with what others hold.
            using (setup.Allocator.AllocateGroup<byte>(2 * Block))
            {
                Assert.Equal(4 * Block, setup.Statistics.CommittedBytes);
            }

            decoder.Dispose();
            decoder.Dispose();
            Assert.Equal((4L * Block, 6L * Block), (reservation.RemainingBytes, setup.Statistics.BudgetUsedBytes));
        }

        setup.Allocator.Prewarm(8 * Block);
        Assert.Equal(8 * Block, setup.Statistics.CommittedBytes);
    }

    [Fact]
    public void TrackExternalMemory_OfThePlainAllocator_CountsLikeAnyRequest()
    {
        using TestSetup setup = new(budget: 8 * Block);
        using IDisposable external = setup.Allocator.TrackExternalMemory(6 * Block);
        Assert.Throws<MemoryLimitExceededException>(() => setup.Allocator.Allocate<byte>(3 * Block));
        Assert.Throws<MemoryLimitExceededException>(() => setup.Allocator.TrackExternalMemory(3 * Block));
        Assert.Throws<MemoryLimitExceededException>(() => setup.Allocator.TrackExternalMemory(9 * Block));
        Assert.Throws<ArgumentOutOfRangeException>(() => setup.Allocator.TrackExternalMemory(-1));
        setup.Allocator.TrackExternalMemory(0).Dispose();
        Assert.Equal(
            (6L * Block, 0L, 0L),
            (setup.Statistics.BudgetUsedBytes, setup.Statistics.CommittedBytes, setup.Statistics.OutstandingAllocations));
        using TestSetup unlimited = new();
        unlimited.Allocator.TrackExternalMemory(1L << 50).Dispose();
    }

    [Fact]
    public void EstimateBytes_WhateverTheLength_IsTheCapacity()
    {
        using TestSetup setup = new(budget: 64 * Block);
        Assert.Equal(0, setup.Allocator.EstimateBytes(0));
        Assert.Equal(1024, setup.Allocator.EstimateBytes(600));
        Assert.Equal(2 * 3 * Block, setup.Allocator.EstimateBytes(2 * Block + 1, liveCopies: 2));
        Assert.Throws<ArgumentOutOfRangeException>(() => setup.Allocator.EstimateBytes(-1));
        Assert.Throws<ArgumentOutOfRangeException>(() => setup.Allocator.EstimateBytes(1, liveCopies: 0));
        Assert.Throws<ArgumentOutOfRangeException>(() => setup.Allocator.EstimatePixelBytes(0, 1, 1));
        Assert.Throws<ArgumentOutOfRangeException>(() => setup.Allocator.EstimatePixelBytes(1, 1, 0));
    }

    // The sum of two saturated estimates was -2, and that was granted where nothing checked.
    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task Estimate_LargerThanAnyMachine_SixteenCanBeAddedAndNoneIsGranted(bool hasBudget)
    {
        using TestSetup setup = new(budget: hasBudget ? 8 * Block : null);
        long[] estimates =
        [
            setup.Allocator.EstimateBytes(long.MaxValue),
            setup.Allocator.EstimateBytes(long.MaxValue / 2, liveCopies: int.MaxValue),
            setup.Allocator.EstimatePixelBytes(int.MaxValue, int.MaxValue, 16),
            setup.Allocator.EstimatePixelBytes(int.MaxValue, int.MaxValue, int.MaxValue, int.MaxValue),
        ];
        long sum = 0;
        for (int i = 0; i < 16; i++)
        {
            sum = checked(sum + estimates[i % estimates.Length]);
        }

        foreach (long bytes in new[] { estimates[0], estimates[0] + estimates[2], sum, long.MaxValue })
        {
            Exception ofReservation = await Assert.ThrowsAnyAsync<Exception>(async () => await setup.Allocator.ReserveAsync(bytes));
            Exception ofExternal = Assert.ThrowsAny<Exception>(() => setup.Allocator.TrackExternalMemory(bytes));
            foreach (Exception failure in new[] { ofReservation, ofExternal })
            {
                if (hasBudget)
                {
                    MemoryLimitExceededException exceeded = Assert.IsType<MemoryLimitExceededException>(failure);
                    Assert.Equal((bytes, 8L * Block), (exceeded.RequestedBytes, exceeded.LimitBytes));
                }
                else
                {
                    ArgumentOutOfRangeException outOfRange = Assert.IsType<ArgumentOutOfRangeException>(failure);
                    Assert.Equal(("bytes", bytes), (outOfRange.ParamName, outOfRange.ActualValue));
                    Assert.Contains("576460752303423487", outOfRange.Message);
                }
            }
        }
    }

    [Theory]
    [InlineData(-1)]
    [InlineData(long.MinValue)]
    public async Task AnyCall_NegativeBytes_IsRefusedByNameWithTheValue(long bytes)
    {
        using TestSetup setup = new(budget: 8 * Block);
        using MemoryReservation reservation = await setup.Allocator.ReserveAsync(Block);
        List<Func<Task>> calls = [() => Task.FromResult(reservation.TryGrow(bytes)), () => reservation.GrowAsync(bytes).AsTask()];
        foreach (MemoryAllocator allocator in new[] { setup.Allocator, reservation })
        {
            calls.AddRange(
            [
                () => allocator.ReserveAsync(bytes).AsTask(),
                () => allocator.ReserveAsync(bytes, TimeSpan.FromSeconds(30)).AsTask(),
                () => Task.FromResult(allocator.TryReserve(bytes, out _)),
                () => Task.FromResult(allocator.TrackExternalMemory(bytes)),
            ]);
        }

        foreach (Func<Task> call in calls)
        {
            ArgumentOutOfRangeException failure = await Assert.ThrowsAsync<ArgumentOutOfRangeException>("bytes", call);
            Assert.Equal(bytes, failure.ActualValue);
        }

        Assert.Equal((1L * Block, 1L * Block), (reservation.ReservedBytes, setup.Statistics.BudgetUsedBytes));
    }

    private static IDisposable AllocatePixels(MemoryAllocator allocator, int width, int height, int pixelSize) => pixelSize switch
    {
        3 => allocator.AllocatePixels<(byte, byte, byte)>(width, height),
        4 => allocator.AllocatePixels<int>(width, height),
        _ => allocator.AllocatePixels<long>(width, height),
    };
}
