using System;
using System.Collections.Generic;
using System.Linq;
using System.Reflection;
using System.Threading;
using Allocator.Diagnostics;
using Allocator.Lifetime;
using Allocator.Pooling;
using Allocator.Tests.Fakes;
using Xunit;

namespace Allocator.Tests.Pooling;

public class ThreadSlotSetTests
{
    private static readonly FieldInfo s_revoking = typeof(ThreadSlotSet).GetField("_revoking", BindingFlags.NonPublic | BindingFlags.Instance)!;
    private static readonly FieldInfo s_slots = typeof(UniformUnmanagedMemoryPool).GetField("_slots", BindingFlags.NonPublic | BindingFlags.Instance)!;

    [Fact]
    public void TryPut_WithoutSlots_IsRefused()
    {
        using TestPool test = new(4);
        ThreadSlotSet slots = new();
        BlockGuard block = test.Rent();
        Assert.False(slots.TryPut(block));
        Assert.Null(slots.TryTake());
        block.Arena.Return(block);
    }

    [Fact]
    public void EnsureSlots_SecondTime_MakesRoomForFourBlocks()
    {
        using TestPool test = new(8);
        ThreadSlotSet slots = new();
        OnNewThread(() =>
        {
            BlockGuard[] blocks = [.. Enumerable.Range(0, 5).Select(_ => test.Rent())];
            slots.EnsureSlots();
            slots.EnsureSlots();
            Assert.Equal([true, true, true, true, false], blocks.Select(slots.TryPut));
            HashSet<BlockGuard> taken = [slots.TryTake()!, slots.TryTake()!, slots.TryTake()!, slots.TryTake()!];
            Assert.Equal([.. blocks.Take(4)], taken);
            Assert.Null(slots.TryTake());
            Array.ForEach(blocks, static block => block.Arena.Return(block));
        });
    }

    [Fact]
    public void Drain_BlocksOfOtherThreads_GoToTheirArenas()
    {
        using TestPool test = new(4);
        using ManualResetEventSlim isPut = new();
        using ManualResetEventSlim isDrained = new();
        Thread thread = new(() =>
        {
            List<(BlockGuard Block, long Generation)> rents = test.RentAndBegin(4);
            rents.ForEach(static rent => rent.Block.Dispose(rent.Generation));
            isPut.Set();
            isDrained.Wait();
        });
        thread.Start();
        isPut.Wait();
        Assert.Equal(0, test.Pool.Arenas[0].FreeCount);
        Assert.True(test.Pool.DrainSlots());
        Assert.Equal(4, test.Pool.Arenas[0].FreeCount);
        Assert.False(test.Pool.DrainSlots());
        isDrained.Set();
        thread.Join();
    }

    [Fact]
    public void Drain_OnlyWanted_LeavesTheOthersInPlace()
    {
        using TestPool test = new(4);
        List<(BlockGuard Block, long Generation)> rents = test.RentAndBegin(3);
        rents.ForEach(static rent => rent.Block.Dispose(rent.Generation));
        int free = test.Pool.Arenas[0].FreeCount;
        BlockGuard wanted = rents[2].Block;
        Assert.True(test.Pool.DrainSlots(block => block == wanted));
        Assert.Equal(free + 1, test.Pool.Arenas[0].FreeCount);
        Assert.NotSame(wanted, test.Pool.TryRentFromSlots());
    }

    [Fact]
    public void Drain_ThreadThatOnlyReturns_LeavesWhatItReturnsToOthers()
    {
        using TestPool test = new(4);
        (BlockGuard Block, long Generation) kept = test.RentAndBegin(2)[1];
        (BlockGuard Block, long Generation) first = test.RentAndBegin(1)[0];
        first.Block.Dispose(first.Generation);
        Assert.True(test.Pool.DrainSlots());
        int free = test.Pool.Arenas[0].FreeCount;

        // Robbed, and not renting since: what comes back lies where others find it.
        kept.Block.Dispose(kept.Generation);
        Assert.Equal(free + 1, test.Pool.Arenas[0].FreeCount);

        // Renting again opens the slots.
        (BlockGuard Block, long Generation) again = test.RentAndBegin(1)[0];
        again.Block.Dispose(again.Generation);
        Assert.Equal(free, test.Pool.Arenas[0].FreeCount);
    }

    [Fact]
    public void TryRent_WhileAnotherThreadDrainsTheSlots_LooksIntoTheMapsAgain()
    {
        using TestPool test = new(4);
        List<(BlockGuard Block, long Generation)> rents = test.RentAndBegin(4);
        rents.ForEach(static rent => rent.Block.Dispose(rent.Generation));
        BlockGuard inTheMap = test.Rent();
        PoolOutcome outcome = PoolOutcome.Refused;
        PoolOutcome outcomeOfMany = PoolOutcome.Refused;
        Thread single = new(() => test.Pool.TryRent(out outcome));
        Thread many = new(() =>
        {
            GuardChain chain = default;
            outcomeOfMany = test.Pool.TryRentMany(2, ref chain, out _);
        });
        Assert.NotNull(inTheMap);
        lock (s_revoking.GetValue(s_slots.GetValue(test.Pool))!)
        {
            single.Start();
            many.Start();
            Assert.True(SpinWait.SpinUntil(() => IsWaiting(single) && IsWaiting(many), TimeSpan.FromMinutes(1)));
            Assert.True(test.Pool.DrainSlots());
        }

        single.Join();
        many.Join();
        Assert.Equal((PoolOutcome.Hit, PoolOutcome.Hit), (outcome, outcomeOfMany));
    }

    [SkippableTheory]
    [InlineData(2, PoolOutcome.Cold)]
    [InlineData(1, PoolOutcome.Hit)]
    internal void TryRent_OnlyBlockInABusyThreadsSlots_IsTakenOnlyWhereThereIsNoOther(int blocks, PoolOutcome expected)
    {
        // Two threads with one block between them would take it from each other for ever.
        Skip.If(Environment.ProcessorCount == 1, "One block is a surplus here.");
        using TestPool test = new(blocks);
        using ManualResetEventSlim isPut = new();
        using ManualResetEventSlim isRented = new();
        Thread busy = new(() =>
        {
            for (int i = 0; i < 3; i++)
            {
                (BlockGuard Block, long Generation) rent = test.RentAndBegin(1)[0];
                rent.Block.Dispose(rent.Generation);
            }

            isPut.Set();
            isRented.Wait();
        });
        busy.Start();
        isPut.Wait();
        Assert.NotNull(test.Pool.TryRent(out PoolOutcome outcome));
        Assert.Equal(expected, outcome);
        isRented.Set();
        busy.Join();
    }

    [Fact]
    public void TryGrow_ArenasChangedSinceTheLook_SaysToLookAgain()
    {
        using TestSetup setup = new();
        ArenaSet arenas = new(null!, new PoolGeometry(TestSetup.BlockSize, 4), setup.Source, TestPool.CreatePolicy(setup));
        BlockArena[] seen = arenas.All;
        PoolOutcome outcome = PoolOutcome.Full;
        Assert.True(arenas.TryGrow(seen, 1, ref outcome));
        Assert.True(arenas.TryGrow(seen, 1, ref outcome));
        Assert.False(arenas.TryGrow(arenas.All, 1, ref outcome));
        Assert.Single(arenas.All);
        Assert.Equal(PoolOutcome.Full, outcome);
        Assert.True(arenas.All[0].TryReleaseAll());
    }

    private static bool IsWaiting(Thread thread) => (thread.ThreadState & ThreadState.WaitSleepJoin) != 0;

    private static void OnNewThread(Action action)
    {
        Exception? failure = null;
        Thread thread = new(() =>
        {
            try
            {
                action();
            }
            catch (Exception exception)
            {
                failure = exception;
            }
        });
        thread.Start();
        thread.Join();
        Assert.Null(failure);
    }

    /// <summary>A pool without allocator.</summary>
    private sealed class TestPool : IDisposable
    {
        private readonly TestSetup _setup = new();

        public TestPool(int blocks) =>
            Pool = new UniformUnmanagedMemoryPool(new PoolGeometry(TestSetup.BlockSize, blocks), _setup.Source, CreatePolicy(_setup));

        public UniformUnmanagedMemoryPool Pool { get; }

        public static LifetimePolicy CreatePolicy(TestSetup setup) => new(new AllocatorCounters(), setup.Clock, setup.Scheduler.Quarantine);

        public BlockGuard Rent() => Pool.TryRent(out _) ?? throw new InvalidOperationException("The pool is empty.");

        public List<(BlockGuard Block, long Generation)> RentAndBegin(int count) =>
            [.. Enumerable.Range(0, count).Select(_ => Rent()).ToArray().Select(static block => (block, block.Begin()))];

        public void Dispose()
        {
            Pool.Close();
            _setup.Dispose();
        }
    }
}
