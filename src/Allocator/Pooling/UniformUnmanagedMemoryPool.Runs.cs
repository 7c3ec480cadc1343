using System;
using System.Diagnostics;
using Allocator.Budgeting;
using Allocator.Lifetime;
using Allocator.Native;

namespace Allocator.Pooling;

/// <content>Several blocks for one request, where they do not lie ready in one step.</content>
internal sealed partial class UniformUnmanagedMemoryPool
{
    /// <summary>
    /// Rents one block, or several adjacent ones as one. For every block of it that had no memory an idle one elsewhere loses its own:
    /// memory in the wrong place is no reason to hold more of it.
    /// </summary>
    public BlockGuard? TryRentRun(int count, ref Refusals refusals, out PoolOutcome outcome)
    {
        if (count == 1)
        {
            return TryRent(ref refusals, out outcome);
        }

        BlockGuard? run = TryRentRun(count, ref refusals, out outcome, out int coldBlocks);
        if (coldBlocks > 0 && run is not null)
        {
            Reclaimer.Exchange(coldBlocks);
        }

        return run;
    }

    private BlockGuard? TryRentRun(int count, ref Refusals refusals, out PoolOutcome outcome, out int coldBlocks)
    {
        Debug.Assert(count > 1);
        outcome = PoolOutcome.Full;
        coldBlocks = 0;
        if (count > Math.Min(BlockArena.MaximumBlocks, _geometry.MaximumBlocks) || _source is not VirtualMemorySource)
        {
            return null;
        }

        BlockGuard? run = TryRentReady(count, ofGroup: false);
        if (run is not null)
        {
            outcome = PoolOutcome.Hit;
            return run;
        }

        // Single blocks in the cache may be all that is missing, and idle memory comes before new memory.
        DrainCache();
        BlockArena[] seen;
        do
        {
            seen = Arenas;
            run = _arenas.TryTakeRun(count, ref refusals, ref outcome, ref coldBlocks);
        }
        while (run is null && outcome == PoolOutcome.Full && _arenas.TryGrow(seen, count, ref outcome));

        ReleaseIfClosed();
        return run;
    }

    /// <summary>
    /// Rents as many blocks as are free, up to <paramref name="count"/>: adjacent ones as one run, in one step for each arena.
    /// </summary>
    public PoolOutcome TryRentMany(int count, ref Allocation allocation, ref Refusals refusals, out int rented)
    {
        PoolOutcome result = PoolOutcome.Hit;
        BlockArena[] seen;
        rented = 0;
        do
        {
            seen = Arenas;
            rented += _arenas.TakeMany(count - rented, resident: true, ref allocation, ref refusals, ref result);
            if (rented < count)
            {
                DrainCache();
                rented += _arenas.TakeMany(count - rented, resident: true, ref allocation, ref refusals, ref result);
            }

            rented += _arenas.TakeMany(count - rented, resident: false, ref allocation, ref refusals, ref result);
        }
        while (rented < count && result < PoolOutcome.Full && _arenas.TryGrow(seen, 1, ref result));

        if (rented < count)
        {
            // No new memory: then what has come back meanwhile.
            PoolOutcome last = PoolOutcome.Hit;
            DrainCache();
            rented += _arenas.TakeMany(count - rented, resident: true, ref allocation, ref refusals, ref last);
            result = rented == count && result >= PoolOutcome.Full ? PoolOutcome.Cold : result;
        }

        ReleaseIfClosed();
        return rented < count && result < PoolOutcome.Full ? PoolOutcome.Full : result;
    }
}
