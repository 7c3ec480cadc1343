using System;
using System.Numerics;
using Allocator.Budgeting;

namespace Allocator.Pooling;

/// <content>The blocks that lie in the pool's cache: those in no map whose state says so, whatever the slots name.</content>
internal sealed partial class BlockArena
{
    // The blocks in the cache, and those that are outstanding.
    private ulong InNoMap => Committed & ~Free;

    /// <summary>Takes a block that lies in the pool's cache, or returns null.</summary>
    public BlockGuard? TryTakeCached()
    {
        BlockGuard? guard = null;
        for (ulong blocks = InNoMap; blocks != 0 && guard is null; blocks &= blocks - 1)
        {
            guard = Records[BitOperations.TrailingZeroCount(blocks)].TryTakeCached();
        }

        return guard;
    }

    /// <summary>
    /// Puts the blocks that lie in the pool's cache into the map: all, or those that are wanted; false for none. Adds up the permits that
    /// they have kept.
    /// </summary>
    public bool DrainCached(Func<BlockRecord, bool>? isWanted, ref BudgetPermit kept)
    {
        bool any = false;
        for (ulong blocks = InNoMap; blocks != 0; blocks &= blocks - 1)
        {
            BlockRecord block = Records[BitOperations.TrailingZeroCount(blocks)];
            if (block.IsCached && isWanted?.Invoke(block) != false && block.TryTakeCached() is BlockGuard guard)
            {
                BudgetPermit permit = guard.TakePermit();
                kept = new BudgetPermit(permit.Account ?? kept.Account, permit.Bytes + kept.Bytes);
                Return(guard);
                any = true;
            }
        }

        return any;
    }
}
