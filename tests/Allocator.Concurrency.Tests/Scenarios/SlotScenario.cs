using Allocator.Diagnostics;
using Allocator.Pooling;

namespace Allocator.Concurrency.Scenarios;

/// <summary>
/// One block more than there are slots near a thread, and two that are held: one of them is named by a slot, which the other, named by
/// none, may take while the first comes back. That one then lies in the cache all the same.
/// </summary>
internal sealed class SlotScenario : PoolScenario
{
    private static readonly int s_slots = Math.Min(4, BlockCache.Capacity);

    private readonly List<(BlockGuard Block, long Generation)> _held = [];
    private readonly (BlockGuard Block, long Generation) _named;
    private readonly (BlockGuard Block, long Generation) _unnamed;

    public SlotScenario(params Action<SlotScenario>[] bodies)
        : base(s_slots + 1)
    {
        BeginAt(0);
        (BlockGuard Block, long Generation)[] all = [.. Enumerable.Range(0, s_slots + 1).Select(_ => Rent()!.Value)];
        _unnamed = all[s_slots];
        foreach ((BlockGuard block, long generation) in all[..s_slots])
        {
            End(block, generation);
        }

        _named = Rent()!.Value;
        foreach (Action<SlotScenario> body in bodies)
        {
            Thread(body.Method.Name, () => body(this), static () => BeginAt(0));
        }
    }

    public static void PutNamed(SlotScenario run) => End(run, run._named);

    public static void PutUnnamed(SlotScenario run) => End(run, run._unnamed);

    public static void PutBoth(SlotScenario run)
    {
        PutUnnamed(run);
        PutNamed(run);
    }

    /// <summary>Rents a block, which lies idle somewhere: without new memory.</summary>
    public static void RentIdle(SlotScenario run)
    {
        (BlockGuard, long)? rent = run.Rent();
        Assert.True(rent is not null, "An idle block is in no thread's reach.");
        run._held.Add(rent.Value);
    }

    public static void Drain(SlotScenario run) => run.Pool.DrainCache();

    public static void TrimAll(SlotScenario run) => run.Pool.Idle.Release(long.MaxValue);

    public override void Check()
    {
        _held.ForEach(rent => End(this, rent));
        End(this, _named);
        End(this, _unnamed);
        ExpectAllIdle();
    }

    private static void End(SlotScenario run, in (BlockGuard Block, long Generation) rent)
    {
        if (rent.Block.IsHeld(rent.Generation))
        {
            run.End(rent.Block, rent.Generation);
        }
    }

    private (BlockGuard Block, long Generation)? Rent() => TryRent() is BlockGuard block ? (block, Begin(block)) : null;
}
