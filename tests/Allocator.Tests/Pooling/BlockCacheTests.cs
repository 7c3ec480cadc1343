using Allocator.Budgeting;
using Allocator.Lifetime;
using Allocator.Pooling;

namespace Allocator.Tests.Pooling;

public class BlockCacheTests
{
    // What one thread reaches before the free maps.
    private static readonly int s_nearby = Math.Min(4, BlockCache.Capacity);

    [Fact]
    public void Capacity_OfThisMachine_IsAtMostTwoBlocksForEachCore() =>
        Assert.InRange(BlockCache.Capacity, Environment.ProcessorCount + 1, 2 * Environment.ProcessorCount);

    [Fact]
    public void TryPut_BeforeAnyRentFoundNoBlock_IsRefused()
    {
        using TestPool test = new(4);
        BlockCache cache = new();
        BlockGuard block = test.Rent();
        Assert.False(cache.TryReturnSlow(block, RentState.Cached));
        Assert.Null(cache.TryTake());
        Assert.False(test.Pool.DrainCache());
        block.Arena.Return(block);
    }

    [Fact]
    public void TryPut_MoreBlocksThanSlotsNearby_TakesThoseThatFitAndGivesEachOnce()
    {
        using TestPool test = new(8);
        BlockCache cache = new();
        cache.Prepare();
        BlockGuard[] blocks = [.. Enumerable.Range(0, s_nearby + 1).Select(_ => test.Rent())];
        Assert.Equal([.. Enumerable.Repeat(true, s_nearby), false], blocks.Select(block => cache.TryReturnSlow(block, RentState.Cached)));
        HashSet<BlockGuard> taken = [.. Enumerable.Range(0, s_nearby).Select(_ => cache.TryTake()!)];
        Assert.Equal([.. blocks.Take(s_nearby)], taken);
        Assert.Null(cache.TryTake());
        Array.ForEach(blocks, static block => block.Arena.Return(block));
    }

    [Fact]
    public void TryTakeCached_BlocksOfOtherThreads_AreFoundInEverySlot()
    {
        using TestPool test = new(BlockCache.Capacity);
        foreach ((BlockGuard block, long generation) in test.RentAndBegin(BlockCache.Capacity))
        {
            OnNewThread(() => block.Dispose(generation));
        }

        HashSet<BlockGuard> taken = [];
        while (test.Pool.Arenas[0].TryTakeCached() is BlockGuard block)
        {
            Assert.True(taken.Add(block));
        }

        Assert.InRange(taken.Count, s_nearby, BlockCache.Capacity);
        Assert.All(taken, static block => block.Arena.Return(block));
        Assert.Equal(BlockCache.Capacity, test.FreeCount);
    }

    [Fact]
    public void Return_SlotNamesAnotherBlockByNow_FindsAnotherPlace()
    {
        using TestPool test = new(s_nearby + 1);
        List<(BlockGuard Block, long Generation)> rents = test.RentAndBegin(s_nearby);
        rents.ForEach(static rent => rent.Block.Dispose(rent.Generation));

        // All slots near this thread name blocks that are outstanding: the one that is not takes the place of one.
        rents = test.RentAndBegin(s_nearby + 1);
        for (int i = rents.Count - 1; i >= 0; i--)
        {
            rents[i].Block.Dispose(rents[i].Generation);
        }

        Assert.Equal(1, test.FreeCount);
        HashSet<BlockGuard> taken = [.. Enumerable.Range(0, s_nearby).Select(_ => test.Pool.TryRentCached()!)];
        Assert.Equal(s_nearby, taken.Count);
        Assert.Null(test.Pool.TryRentCached());
        Assert.All(taken, static block => block.Arena.Return(block));
    }

    [Fact]
    public void Drain_BlocksOfAnEndedThread_ReturnToTheirArena()
    {
        using TestPool test = new(s_nearby);
        OnNewThread(() => test.RentAndReturn(s_nearby));
        Assert.Equal(0, test.FreeCount);
        Assert.True(test.Pool.DrainCache());
        Assert.Equal(s_nearby, test.FreeCount);
        Assert.False(test.Pool.DrainCache());
    }

    [Fact]
    public void Drain_SomeWanted_LeavesTheOthersInPlace()
    {
        using TestPool test = new(2);
        List<(BlockGuard Block, long Generation)> rents = test.RentAndBegin(2);
        rents.ForEach(static rent => rent.Block.Dispose(rent.Generation));
        BlockGuard wanted = rents[1].Block;
        Assert.True(test.Pool.DrainCache(block => block == wanted.Block));
        Assert.Equal(1, test.FreeCount);
        Assert.Same(rents[0].Block, test.Pool.TryRentCached());
    }

    [Fact]
    public void Rent_OneBlockPassedFromThreadToThread_NeedsNoOtherBlock()
    {
        using TestPool test = new(8);
        for (int i = 0; i < 3 * BlockCache.Capacity; i++)
        {
            OnNewThread(() => test.RentAndReturn(1));
        }

        Assert.Equal(1, test.Pool.Arenas[0].CommittedCount);
    }

    [Fact]
    public void Rent_Group_UsesCachedBlocksBeforeNewMemory()
    {
        using TestPool test = new(8);
        OnNewThread(() => test.RentAndReturn(2));
        Allocation allocation = default;
        Refusals refusals = default;
        Assert.Equal(PoolOutcome.Hit, test.Pool.TryRentMany(2, ref allocation, ref refusals, out int rented));
        Assert.Equal((2, 2), (rented, test.Pool.Arenas[0].CommittedCount));
    }

    [Fact]
    public void Rent_RunAfterItsReturn_ComesFromTheCache()
    {
        using TestPool test = new(8);
        BlockGuard run = ReturnRun(test, 4);
        Assert.Equal(4, test.FreeCount);
        Assert.Null(test.Pool.TryRentCached());
        Assert.Same(run, test.Pool.TryRentReady(4, ofGroup: false));
        run.Arena.Return(run);
    }

    [Theory]
    [InlineData(1)]
    [InlineData(3)]
    [InlineData(4)]
    public void Rent_NextToACachedRun_UsesItsMemoryBeforeNew(int blocks)
    {
        using TestPool test = new(8);
        OnNewThread(() => ReturnRun(test, 4));
        Refusals refusals = default;
        BlockGuard taken = test.Pool.TryRentRun(blocks, ref refusals, out PoolOutcome outcome)!;
        Assert.Equal((PoolOutcome.Hit, 4, 8 - blocks), (outcome, test.Pool.Arenas[0].CommittedCount, test.FreeCount));
        taken.Arena.Return(taken);
    }

    [Fact]
    public void Rent_RunWhoseBlocksAreCached_TakesThem()
    {
        using TestPool test = new(8);
        OnNewThread(() => test.RentAndReturn(s_nearby));
        BlockGuard run = test.Pool.TryRentReady(s_nearby, ofGroup: false)!;
        Assert.Equal((s_nearby, s_nearby), (run.RunLength, test.Pool.Arenas[0].CommittedCount));
        run.Arena.Return(run);
    }

    [Fact]
    public void LookForStale_CachedRun_IsStaleOnlyIfUnused()
    {
        using TestPool test = new(8);
        ReturnRun(test, 4);
        BlockArena arena = test.Pool.Arenas[0];
        Assert.Equal((0, 4), (arena.LookForStale(), arena.LookForStale()));
        BlockGuard run = test.Pool.TryRentReady(4, ofGroup: false)!;
        run.Dispose(run.BeginPlain(1));
        Assert.False(arena.IsStale(3));
        Assert.Equal((0, 4), (arena.LookForStale(), arena.LookForStale()));
    }

    [Fact]
    public void Close_BlocksInTheCache_LeavesNoneThere()
    {
        using TestPool test = new(4);
        List<(BlockGuard Block, long Generation)> rents = test.RentAndBegin(2);
        rents[0].Block.Dispose(rents[0].Generation);
        test.Pool.Close();
        Assert.Equal(1, test.Pool.Arenas[0].CommittedCount);
        rents[1].Block.Dispose(rents[1].Generation);
        Assert.Equal((0, 0), (test.Pool.Arenas[0].CommittedCount, test.FreeCount));
        Assert.Null(test.Pool.TryRentCached());
    }

    [Fact]
    public void Pool_DroppedWithBlocksInItsCache_IsCollected() => RemoteExecutor.Invoke(static () =>
    {
        WeakReference pool = UseAndDrop();
        GC.Collect();
        Assert.False(pool.IsAlive);
    }).Dispose();

    private static BlockGuard ReturnRun(TestPool test, int count)
    {
        Refusals refusals = default;
        BlockGuard run = test.Pool.TryRentRun(count, ref refusals, out _)!;
        run.Dispose(run.BeginPlain(1));
        return run;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static WeakReference UseAndDrop()
    {
        WeakReference? pool = null;
        OnNewThread(() =>
        {
            TestPool test = new(4);
            test.RentAndReturn(3);
            pool = new WeakReference(test.Pool);
        });
        return pool!;
    }

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
}
