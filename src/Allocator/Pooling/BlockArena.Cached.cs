using System;
using System.Numerics;
using Allocator.Budgeting;

namespace Allocator.Pooling;

/// <content>The blocks that lie in the pool's cache: those in no map whose state says so, whatever the slots name.</content>
internal sealed partial class BlockArena
{
    /// <summary>Gets the blocks in the cache that are admitted by the budget as if they were outstanding.</summary>
    public int AdmittedIdleCount
    {
        get
        {
            int count = 0;
            for (ulong blocks = InNoMap; blocks != 0; blocks &= blocks - 1)
            {
                count += Records[BitOperations.TrailingZeroCount(blocks)].IsAdmitted ? 1 : 0;
            }

            return count;
        }
    }

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

    /// <summary>Puts the blocks that lie in the pool's cache into the map: all, or those that are wanted; false for none.</summary>
    public bool DrainCached(Func<BlockRecord, bool>? isWanted)
    {
        bool any = false;
        for (ulong blocks = InNoMap; blocks != 0; blocks &= blocks - 1)
        {
            BlockRecord block = Records[BitOperations.TrailingZeroCount(blocks)];
            if (block.IsCached && isWanted?.Invoke(block) != false && block.TryTakeCached() is BlockGuard guard)
            {
                // The block first: what is admitted in its place finds it.
                BudgetAccount? account = guard.TakePermit(out long bytes);
                Return(guard);
                account?.Return(bytes);
                any = true;
            }
        }

        return any;
    }
}
