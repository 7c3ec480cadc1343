using System.Numerics;
using Allocator.Budgeting;
using Allocator.Diagnostics;
using Allocator.Lifetime;
using Allocator.Pooling;

namespace Allocator.Concurrency.Scenarios;

/// <summary>Threads that claim and release blocks of one arena, and purge them.</summary>
internal sealed class FreeMapScenario : Scenario
{
    private readonly int _blocks;
    private readonly Ownership _ownership;
    private readonly AddressesOnly _source;
    private readonly BlockArena _arena;

    public FreeMapScenario(int blocks, int resident, params Action<FreeMapScenario>[] bodies)
    {
        _blocks = blocks;
        _ownership = new Ownership(blocks);
        _source = new AddressesOnly(blocks);
        AllocatorContext policy = new(new AllocatorCounters(), new StillClock(), new Quarantine(new StillClock()));
        UniformUnmanagedMemoryPool pool = new(new PoolGeometry(4096, blocks), new AddressesOnly(blocks), policy);
        _arena = new BlockArena(pool, _source, _source.TryReserve(4096L * blocks, 4096), 4096, blocks, policy);
        Ready(resident);
        foreach (Action<FreeMapScenario> body in bodies)
        {
            Thread(body.Method.Name, () => body(this));
        }
    }

    public static void Single(FreeMapScenario run) => run.Use(run.TryClaim(resident: true), 1);

    public static void ColdSingle(FreeMapScenario run) => run.Use(run.TryClaim(resident: false), 1);

    public static void Pair(FreeMapScenario run) => run.Use(run._arena.TryClaimRun(2), 2);

    /// <summary>Two blocks with memory in one step, where there are two; as a group takes them, and as a run.</summary>
    public static void ReadyPair(FreeMapScenario run)
    {
        run.Use(run._arena.TryTakeReady(2, ofGroup: true));
        run.Use(run._arena.TryTakeReady(2, ofGroup: false));
    }

    public static void Many(FreeMapScenario run)
    {
        for (ulong claimed = run._arena.TryClaimMany(2, resident: true); claimed != 0; claimed &= claimed - 1)
        {
            run.Use(BitOperations.TrailingZeroCount(claimed), 1);
        }
    }

    public static void Purge(FreeMapScenario run)
    {
        for (int i = run._blocks - 1; i >= 0; i--)
        {
            if (run._arena.IsResident(i) && run._arena.TryClaimBlock(i))
            {
                run._ownership.Take(i, 1);
                run._arena.TryRelease(i);
                run._ownership.Give(i, 1);
                run._arena.Return(1UL << i);
            }
        }
    }

    public static void Close(FreeMapScenario run)
    {
        if (run._arena.TryReleaseAll())
        {
            // For good: a block that is held from now on has no memory.
            run._ownership.Take(0, run._blocks);
        }
    }

    public override void Check()
    {
        Assert.Equal(_source.CommittedPages, _arena.CommittedCount);
        Assert.Equal(_source.Reservations == 0 ? 0 : _blocks, _arena.FreeCount);
    }

    private int TryClaim(bool resident) =>
        _arena.TryClaimMany(1, resident) is not 0 and ulong claimed ? BitOperations.TrailingZeroCount(claimed) : -1;

    private void Ready(int count)
    {
        Refusals refusals = default;
        for (int i = 0; i < count; i++)
        {
            _arena.TryClaimBlock(i);
            _arena.TryReady(i, 1, ref refusals, out _);
            _arena.Return(1UL << i);
        }
    }

    private void Use(BlockGuard? guard)
    {
        if (guard is not null)
        {
            _ownership.Take(guard.Index, guard.RunLength);
            Assert.Equal(guard.RunLength, _arena.ResidentWithin(guard.Index, guard.RunLength));
            _ownership.Give(guard.Index, guard.RunLength);
            _arena.Return(guard);
        }
    }

    private void Use(int first, int count)
    {
        if (first >= 0)
        {
            Refusals refusals = default;
            _ownership.Take(first, count);
            _arena.TryReady(first, count, ref refusals, out _);
            BlockGuard guard = _arena.TakeGuard(first, count);
            _ownership.Give(first, count);
            _arena.Return(guard);
        }
    }
}
