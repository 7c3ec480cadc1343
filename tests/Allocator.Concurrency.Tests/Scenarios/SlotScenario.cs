using System;
using Allocator.Pooling;

namespace Allocator.Concurrency.Scenarios;

/// <summary>A thread with blocks in its slots, and others that want those blocks.</summary>
internal sealed class SlotScenario : PoolScenario
{
    private readonly bool _closes;
    private readonly int[] _looks = [0];
    private BlockGuard? _block;
    private long _generation;

    public SlotScenario(int blocks, Action<SlotScenario> owner, params Action<SlotScenario>[] others)
        : base(blocks)
    {
        bool holdsOne = owner.Method.Name == nameof(Put);
        Thread($"owner: {owner.Method.Name}", () => owner(this), () => Prepare(blocks, holdsOne));
        foreach (Action<SlotScenario> other in others)
        {
            Thread(other.Method.Name, () => other(this));
            _closes |= other.Method.Name == nameof(Close);
        }
    }

    /// <summary>Takes a block out of its slots, unless it is kept out of them, and holds it.</summary>
    public static void Take(SlotScenario run) => run.Hold(run.Pool.TryRentFromSlots());

    /// <summary>As above, and where there is none does what the way through the arenas ends with, at the latest when the block that is found there comes back.</summary>
    public static void TakeOrRelease(SlotScenario run)
    {
        Take(run);
        if (run._block is null)
        {
            run.Pool.ReleaseIfClosed();
        }
    }

    /// <summary>Returns a block: into its slots, or where these are closed to it.</summary>
    public static void Put(SlotScenario run) => run.EndHeld();

    public static void Rent(SlotScenario run) => run.RentAndReturn();

    public static void Drain(SlotScenario run) => run.Pool.DrainSlots();

    /// <summary>As a trimmer does, which looks at each block before it is taken: that is a step in the middle.</summary>
    public static void DrainByLooks(SlotScenario run) => run.Pool.DrainSlots(block => Volatile.Read(ref run._looks[0]) == 0);

    public static void DrainByLooksAndRent(SlotScenario run)
    {
        DrainByLooks(run);
        run.RentAndReturn();
    }

    public static void TrimAll(SlotScenario run) => run.Pool.Reclaimer.TrimAll(TrimReason.Requested);

    public static void Close(SlotScenario run) => run.Pool.Close();

    public override void Check()
    {
        EndHeld();
        if (_closes)
        {
            ExpectNothingLeft();
        }
        else
        {
            ExpectAllIdle();
        }
    }

    private void Prepare(int blocks, bool holdsOne)
    {
        FillSlots(blocks);
        if (holdsOne)
        {
            Hold(Pool.TryRent(out _));
        }
    }

    private void Hold(BlockGuard? block)
    {
        if (block is not null)
        {
            _generation = Begin(block);
            _block = block;
        }
    }

    private void EndHeld()
    {
        if (_block is BlockGuard block)
        {
            _block = null;
            End(block, _generation);
        }
    }
}
