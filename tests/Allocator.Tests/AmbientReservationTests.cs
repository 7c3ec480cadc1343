namespace Allocator.Tests;

/// <summary>Code that is handed no reservation, and allocates from one all the same. In blocks of 16 KiB.</summary>
public class AmbientReservationTests
{
    private const int Block = TestSetup.BlockSize;

    private static readonly TimeSpan s_patience = TimeSpan.FromSeconds(30);

    [Theory]
    [InlineData(null)]
    [InlineData(32L * Block)]
    public async Task Use_WhateverAllocatesInTheFlow_IsChargedToTheReservation(long? budget)
    {
        using TestSetup setup = new(maximumBlocks: 64, budget: budget);
        using MemoryReservation reservation = await setup.Allocator.ReserveAsync(16 * Block);
        using (reservation.Use())
        {
            Expect(setup, reservation, 1, static allocator => allocator.Allocate<byte>(Block));
            Expect(setup, reservation, 1, static allocator => allocator.AllocateAligned<byte>(Block, 256));
            Expect(setup, reservation, 3, static allocator => allocator.AllocateGroup<byte>(3 * Block));
            Expect(setup, reservation, 4, static allocator => allocator.AllocatePixels<int>(Block / 4, 4));
            Expect(setup, reservation, 1, static allocator => allocator.TrackExternalMemory(Block));
            Expect(setup, reservation, 2, static allocator => allocator.AsMemoryPool<byte>().Rent(2 * Block));
            Expect(setup, reservation, 2, static allocator => allocator.AllocateAsync<byte>(2 * Block).AsTask().Result);
            Expect(setup, reservation, 5, static allocator => allocator.TryReserve(5 * Block, out MemoryReservation? r) ? r : null!);
            Expect(setup, reservation, 5, static allocator => allocator.ReserveAsync(5 * Block).AsTask().Result);
            byte[] array = setup.Allocator.AsArrayPool().Rent(2 * Block);
            Assert.Equal(14 * Block, reservation.RemainingBytes);
            setup.Allocator.AsArrayPool().Return(array);
            using MemoryLease<byte> lease = setup.Allocator.Rent<byte>(Block);
            Assert.Equal(15 * Block, reservation.RemainingBytes);
        }

        using IMemoryOwner<byte> after = setup.Allocator.Allocate<byte>(Block);
        Assert.Equal((16L * Block, 0L), (reservation.RemainingBytes, reservation.OverflowCount));
    }

    [Fact]
    public async Task Use_AcrossAwaitTasksThreadsLoopsAndIterators_FollowsTheFlow()
    {
        using TestSetup setup = new(maximumBlocks: 64, budget: 64 * Block);
        using MemoryReservation reservation = await setup.Allocator.ReserveAsync(32 * Block);
        using (reservation.Use())
        {
            await Task.Yield();
            Check("await");
            await Task.Run(() => Check("Task.Run"));
            Parallel.For(0, 8, _ => Check("Parallel.For"));
            await AwaitAsync();
            Assert.Equal([1, 2], Iterate());
            Thread thread = new(() => Check("Thread"));
            thread.Start();
            thread.Join();
        }

        // All of it was the reservation's: the budget was charged with no more than that.
        Assert.InRange(reservation.PeakUsedBytes, Block, 8 * Block);
        using IMemoryOwner<byte> after = setup.Allocator.Allocate<byte>(Block);
        Assert.Equal(33 * Block, setup.Statistics.BudgetUsedBytes);

        void Check(string where)
        {
            using IMemoryOwner<byte> owner = setup.Allocator.Allocate<byte>(Block);
            Assert.True(reservation.RemainingBytes <= 31 * Block && setup.Statistics.BudgetUsedBytes == 32 * Block, where);
        }

        async Task AwaitAsync()
        {
            Check("before");
            await Task.Yield();
            Check("after");
        }

        IEnumerable<int> Iterate()
        {
            Check("first");
            yield return 1;
            Check("second");
            yield return 2;
        }
    }

    [Fact]
    public async Task Use_InACalledAsyncMethod_DoesNotReachItsCaller()
    {
        using TestSetup setup = new(maximumBlocks: 64, budget: 64 * Block);
        using MemoryReservation reservation = await setup.Allocator.ReserveAsync(8 * Block);
        MemoryReservation.UseScope use = await BeginAsync();
        ExpectOutside(setup, reservation);
        use.Dispose();

        async Task<MemoryReservation.UseScope> BeginAsync()
        {
            await Task.Yield();
            return reservation.Use();
        }
    }

    [Fact]
    public async Task Use_Nested_InnermostCountsUntilItEnds()
    {
        using TestSetup setup = new(maximumBlocks: 64, budget: 64 * Block);
        using MemoryReservation outer = await setup.Allocator.ReserveAsync(8 * Block);
        using MemoryReservation inner = await setup.Allocator.ReserveAsync(8 * Block);
        using (outer.Use())
        {
            using (inner.Use())
            {
                Expect(setup, inner, 1, static allocator => allocator.Allocate<byte>(Block));
                Assert.Equal(8 * Block, outer.RemainingBytes);
                using IMemoryOwner<byte> named = outer.Allocate<byte>(Block);
                Assert.Equal((7L * Block, 8L * Block), (outer.RemainingBytes, inner.RemainingBytes));
            }

            Expect(setup, outer, 1, static allocator => allocator.Allocate<byte>(Block));
            using (inner.Use())
            {
                inner.Dispose();
                Expect(setup, outer, 1, static allocator => allocator.Allocate<byte>(Block));
            }
        }

        ExpectOutside(setup, outer);
    }

    [Fact]
    public async Task Use_TwoAllocators_EachHasItsOwn()
    {
        using TestSetup setup = new(maximumBlocks: 64, budget: 64 * Block);
        using TestSetup other = new(maximumBlocks: 64, budget: 64 * Block);
        using TestSetup third = new(maximumBlocks: 64);
        using MemoryReservation reservation = await setup.Allocator.ReserveAsync(8 * Block);
        using MemoryReservation ofOther = await other.Allocator.ReserveAsync(8 * Block);
        using (reservation.Use())
        {
            ExpectOutside(other, ofOther);
            using (ofOther.Use())
            {
                Expect(setup, reservation, 1, static allocator => allocator.Allocate<byte>(Block));
                Expect(other, ofOther, 1, static allocator => allocator.Allocate<byte>(Block));
                third.Allocator.Allocate<byte>(Block).Dispose();
                Assert.Equal((8L * Block, 8L * Block), (reservation.RemainingBytes, ofOther.RemainingBytes));
            }
        }
    }

    [Fact]
    public async Task Use_EndedInAnotherFlow_IsEndedInAll()
    {
        using TestSetup setup = new(maximumBlocks: 64, budget: 64 * Block);
        using MemoryReservation reservation = await setup.Allocator.ReserveAsync(8 * Block);
        MemoryReservation.UseScope use = reservation.Use();
        Expect(setup, reservation, 1, static allocator => allocator.Allocate<byte>(Block));
        await Task.Run(use.Dispose);
        ExpectOutside(setup, reservation);
        use.Dispose();
        default(MemoryReservation.UseScope).Dispose();
        using (reservation.Use())
        {
            Expect(setup, reservation, 1, static allocator => allocator.Allocate<byte>(Block));
            use.Dispose();
            Expect(setup, reservation, 1, static allocator => allocator.Allocate<byte>(Block));
        }
    }

    [Fact]
    public async Task Use_FlowIsSuppressed_StaysOnItsThread()
    {
        using TestSetup setup = new(maximumBlocks: 64, budget: 64 * Block);
        using MemoryReservation reservation = await setup.Allocator.ReserveAsync(8 * Block);
        Task outside;
        using (ExecutionContext.SuppressFlow())
        {
            using (reservation.Use())
            {
                Expect(setup, reservation, 1, static allocator => allocator.Allocate<byte>(Block));
                using ManualResetEventSlim done = new();
                outside = Task.Run(() =>
                {
                    using IDisposable end = new Signal(done);
                    ExpectOutside(setup, reservation);
                });
                Assert.True(done.Wait(s_patience));
            }

            ExpectOutside(setup, reservation);
        }

        await outside;
    }

    [Fact]
    public async Task Use_FlowOutlivesTheReservation_AllocatesFromTheAllocatorAsBefore()
    {
        using TestSetup setup = new(maximumBlocks: 64, budget: 64 * Block);
        MemoryReservation reservation = await setup.Allocator.ReserveAsync(8 * Block);
        using ManualResetEventSlim ended = new();
        IMemoryOwner<byte> kept;
        Task later;
        using (reservation.Use())
        {
            kept = setup.Allocator.Allocate<byte>(2 * Block);
            later = Task.Run(() =>
            {
                ended.Wait();
                using IMemoryOwner<byte> owner = setup.Allocator.Allocate<byte>(Block);
                Assert.Equal(3 * Block, setup.Statistics.BudgetUsedBytes);
            });
            reservation.Dispose();
            setup.Allocator.Allocate<byte>(Block).Dispose();
        }

        ended.Set();
        await later.WaitAsync(s_patience);
        Assert.Equal(2 * Block, setup.Statistics.BudgetUsedBytes);
        kept.Dispose();
        Assert.Equal(0, setup.Statistics.BudgetUsedBytes);
        Assert.Throws<ObjectDisposedException>(() => reservation.Use());
    }

    // The request was begun as the reservation's, and waits when that ends.
    [Fact]
    public async Task Use_ReservationEndsWhileARequestWaits_TheRequestGoesOn()
    {
        using TestSetup setup = new(maximumBlocks: 64, budget: 16 * Block);
        MemoryReservation reservation = await setup.Allocator.ReserveAsync(4 * Block);
        MemoryReservation other = await setup.Allocator.ReserveAsync(12 * Block);
        Task<IMemoryOwner<byte>> waiting;
        using (reservation.Use())
        {
            waiting = setup.Allocator.AllocateAsync<byte>(8 * Block).AsTask();
        }

        reservation.Dispose();
        Assert.False(waiting.IsCompleted);
        other.Dispose();
        IMemoryOwner<byte> owner = await waiting.WaitAsync(s_patience);
        Assert.Equal(8 * Block, setup.Statistics.BudgetUsedBytes);
        owner.Dispose();
        Assert.Equal(0, setup.Statistics.BudgetUsedBytes);
    }

    [Fact]
    public async Task Use_ReservationIsDisposedDuringManyRents_NoRentFailsAndAllIsReturned()
    {
        using TestSetup setup = new(maximumBlocks: 64, budget: 64 * Block);
        for (int i = 0; i < 200; i++)
        {
            MemoryReservation reservation = await setup.Allocator.ReserveAsync(4 * Block);
            using (reservation.Use())
            {
                Task renting = Task.Run(() =>
                {
                    for (int rent = 0; rent < 20; rent++)
                    {
                        setup.Allocator.Allocate<byte>(Block).Dispose();
                    }
                });
                reservation.Dispose();
                await renting;
            }
        }

        Assert.Equal(0, setup.Statistics.BudgetUsedBytes);
    }

    [Fact]
    public void Use_NeverEnded_KeepsNeitherTheReservationNorItsAllocatorAlive()
    {
        (WeakReference reservation, WeakReference allocator, ExecutionContext? flow) = BeginWithoutEnd();
        for (int i = 0; i < 10 && (reservation.IsAlive || allocator.IsAlive); i++)
        {
            GC.Collect();
            GC.WaitForPendingFinalizers();
        }

        Assert.False(reservation.IsAlive);
        Assert.False(allocator.IsAlive);
        GC.KeepAlive(flow);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static (WeakReference Reservation, WeakReference Allocator, ExecutionContext? Flow) BeginWithoutEnd()
    {
        ExecutionContext? flow = null;
        WeakReference? ofReservation = null;
        WeakReference? ofAllocator = null;
        Thread thread = new(() =>
        {
            MemoryAllocator allocator = MemoryAllocator.Create(new MemoryAllocatorOptions { MemoryBudgetMegabytes = 64 });
            Assert.True(allocator.TryReserve(1 << 20, out MemoryReservation? reservation));
            reservation.Use();
            allocator.Allocate<byte>(1 << 20).Dispose();
            flow = ExecutionContext.Capture();
            ofReservation = new WeakReference(reservation);
            ofAllocator = new WeakReference(allocator);
        });
        thread.Start();
        thread.Join();
        return (ofReservation!, ofAllocator!, flow);
    }

    private static void Expect(TestSetup setup, MemoryReservation reservation, int blocks, Func<MemoryAllocator, IDisposable> allocate)
    {
        long before = reservation.RemainingBytes;
        long usedBefore = setup.Statistics.BudgetUsedBytes;
        using (allocate(setup.Allocator))
        {
            Assert.Equal((before - blocks * Block, usedBefore), (reservation.RemainingBytes, setup.Statistics.BudgetUsedBytes));
        }

        Assert.Equal(before, reservation.RemainingBytes);
    }

    private static void ExpectOutside(TestSetup setup, MemoryReservation reservation)
    {
        long before = reservation.RemainingBytes;
        long usedBefore = setup.Statistics.BudgetUsedBytes;
        using (setup.Allocator.Allocate<byte>(Block))
        {
            Assert.Equal((before, usedBefore + Block), (reservation.RemainingBytes, setup.Statistics.BudgetUsedBytes));
        }
    }

    private sealed class Signal(ManualResetEventSlim signal) : IDisposable
    {
        public void Dispose() => signal.Set();
    }
}
