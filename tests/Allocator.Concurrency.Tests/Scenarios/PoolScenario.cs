using System.Reflection;
using Allocator.Budgeting;
using Allocator.Concurrency.Seam;
using Allocator.Diagnostics;
using Allocator.Lifetime;
using Allocator.Pooling;

namespace Allocator.Concurrency.Scenarios;

/// <summary>A pool of a few blocks, and threads that rent from it.</summary>
internal abstract class PoolScenario : Scenario
{
    protected const int BlockSize = 4096;

    // As in BlockCache, in references.
    private const int SlotDistance = 16;

    private static readonly FieldInfo s_start = typeof(BlockCache).GetField("t_start", BindingFlags.NonPublic | BindingFlags.Static)!;

    private readonly Ownership _ownership;

    protected PoolScenario(int blocks, AbandonedMemory abandoned = AbandonedMemory.Reuse, MemoryBudget? budget = null)
    {
        WorkItems.Clear();
        Source = new AddressesOnly(blocks);
        _ownership = new Ownership(blocks);
        Quarantine = new Quarantine(new StillClock());
        AllocatorContext policy = new(Counters, new StillClock(), Quarantine, budget) { Abandoned = abandoned };
        Pool = new UniformUnmanagedMemoryPool(new PoolGeometry(BlockSize, blocks), Source, policy);
    }

    protected AddressesOnly Source { get; }

    protected AllocatorCounters Counters { get; } = new();

    protected Quarantine Quarantine { get; }

    protected UniformUnmanagedMemoryPool Pool { get; }

    /// <summary>Rents a block where there is one, uses it and returns it.</summary>
    protected void RentAndReturn()
    {
        if (TryRent() is BlockGuard block)
        {
            long generation = Begin(block);
            End(block, generation);
        }
    }

    protected BlockGuard? TryRent()
    {
        Refusals refusals = default;
        return Pool.TryRentRun(1, ref refusals, out _);
    }

    protected long Begin(BlockGuard block)
    {
        _ownership.Take(block.Index, block.RunLength);
        return block.BeginPlain(BlockSize);
    }

    protected void End(BlockGuard block, long generation)
    {
        _ownership.Give(block.Index, block.RunLength);
        block.Dispose(generation);
    }

    /// <summary>
    /// Has the current thread begin at a slot of the cache: what it remembers of an earlier schedule would decide where it looks first.
    /// </summary>
    protected static void BeginAt(int slot) => s_start.SetValue(null, (slot + BlockCache.Capacity) * SlotDistance);

    /// <summary>Rents as many single blocks as asked, and then returns them: they lie in the cache then.</summary>
    protected void FillCache(int blocks)
    {
        BlockGuard[] rented = new BlockGuard[blocks];
        long[] generations = new long[blocks];
        for (int i = 0; i < blocks; i++)
        {
            rented[i] = TryRent()!;
            generations[i] = Begin(rented[i]);
        }

        for (int i = 0; i < blocks; i++)
        {
            End(rented[i], generations[i]);
        }
    }

    protected void ExpectAllIdle()
    {
        Pool.DrainCache();
        PoolUsage usage = Pool.ReadUsage();
        Assert.Equal((0L, 0L, 0L), (usage.Outstanding, usage.RentedBytes, usage.QuarantinedBytes));
        Assert.Equal(Counters.CommittedBytes, usage.CommittedBytes);
        Assert.Equal(Source.CommittedPages * (long)BlockSize, usage.CommittedBytes);
        foreach (BlockArena arena in Pool.Arenas)
        {
            Assert.True(arena.FreeCount == arena.BlockCount, "A block is lost.");
        }
    }

    protected void ExpectNothingLeft()
    {
        Assert.Equal((0L, 0, 0), (Counters.CommittedBytes, Source.CommittedPages, Source.Reservations));
    }
}
