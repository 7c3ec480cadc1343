using System.Numerics;
using Allocator.Budgeting;
using Allocator.Lifetime;

namespace Allocator.Pooling;

/// <summary>From blocks claimed in an arena's map to guards that can be rented.</summary>
internal static class ClaimedBlocks
{
    /// <summary>Claims up to <paramref name="count"/> free blocks of the arenas, with or without memory behind them as asked, and adds them to an allocation, adjacent ones as one run.</summary>
    /// <param name="arenas">The arenas to look into, in order.</param>
    /// <param name="count">The blocks wanted.</param>
    /// <param name="resident">Whether those with memory are wanted, or those without.</param>
    /// <param name="allocation">Gets the blocks and runs.</param>
    /// <param name="refusals">What the request was refused so far.</param>
    /// <param name="result">Made worse where the system had to give memory, or refused.</param>
    /// <returns>The number of blocks taken.</returns>
    public static int TakeMany(
        BlockArena[] arenas, int count, bool resident, ref Allocation allocation, ref Refusals refusals, ref PoolOutcome result)
    {
        int taken = 0;
        for (int i = 0; i < arenas.Length && taken < count && result < PoolOutcome.Full; i++)
        {
            BlockArena arena = arenas[i];
            ulong claimed = arena.TryClaimMany(count - taken, resident);
            try
            {
                while (claimed != 0)
                {
                    int first = BitOperations.TrailingZeroCount(claimed);
                    int length = arena.IsContiguous ? BitRuns.LengthAt(claimed, first) : 1;
                    claimed &= ~(BitRuns.Mask(length) << first);
                    if (Take(arena, first, length, ref refusals, out PoolOutcome outcome) is BlockGuard run)
                    {
                        allocation.Add(run);
                        taken += length;
                    }

                    result = Worse(result, outcome);
                }
            }
            catch
            {
                arena.GiveUp(claimed);
                throw;
            }
        }

        return taken;
    }

    /// <summary>Makes one run of blocks that the caller has claimed, with memory behind all of them. The rent has not begun.</summary>
    /// <returns>The guard; null where the outcome says why not, and then the blocks are no longer the caller's.</returns>
    public static BlockGuard? Take(BlockArena arena, int first, int count, ref Refusals refusals, out PoolOutcome outcome)
    {
        if (!arena.TryReady(first, count, ref refusals, out bool cold))
        {
            arena.Release(first, count);
            outcome = PoolOutcome.Refused;
            return null;
        }

        outcome = cold ? PoolOutcome.Cold : PoolOutcome.Hit;
        return arena.TakeGuard(first, count).ForRenter();
    }

    public static PoolOutcome Worse(PoolOutcome a, PoolOutcome b) => a > b ? a : b;
}
