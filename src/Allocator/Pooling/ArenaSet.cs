using System;
using System.Numerics;
using System.Threading;
using Allocator.Budgeting;
using Allocator.Lifetime;
using Allocator.Native;

namespace Allocator.Pooling;

/// <summary>The arenas of one pool: which of them a request goes to, and how there come to be more. Lock-free; arenas are added and never removed.</summary>
internal sealed class ArenaSet
{
    private readonly UniformUnmanagedMemoryPool _pool;
    private readonly PoolGeometry _geometry;
    private readonly NativeMemorySource _source;
    private readonly AllocatorContext _context;
    private BlockArena[] _all = [];

    public ArenaSet(UniformUnmanagedMemoryPool pool, PoolGeometry geometry, NativeMemorySource source, AllocatorContext context)
    {
        _pool = pool;
        _geometry = geometry;
        _source = source;
        _context = context;
    }

    public BlockArena[] All => Volatile.Read(ref _all);

    /// <summary>Takes the lowest free block of the fullest arena that has one, with or without memory behind it as asked.</summary>
    /// <returns>Its guard, the rent not begun; null where the outcome says why not.</returns>
    public BlockGuard? TryTake(bool resident, ref Refusals refusals, ref PoolOutcome outcome)
    {
        while (outcome == PoolOutcome.Full && Fullest(resident) is BlockArena arena)
        {
            int index = arena.TryClaim(resident);
            if (index >= 0 && arena.TryTake(index, 1, ref refusals, out outcome) is BlockGuard block)
            {
                return block;
            }
        }

        return null;
    }

    /// <summary>Takes adjacent free blocks, where they need the least new memory.</summary>
    /// <param name="count">The blocks wanted.</param>
    /// <param name="residentOnly">Whether all of them must have memory.</param>
    /// <param name="refusals">What the request was refused so far.</param>
    /// <param name="outcome">How it ended.</param>
    /// <param name="coldBlocks">The blocks taken that had no memory.</param>
    /// <returns>The guard of the run, its rent not begun; null where the outcome says why not.</returns>
    public BlockGuard? TryTakeRun(
        int count, bool residentOnly, ref Refusals refusals, ref PoolOutcome outcome, ref int coldBlocks)
    {
        while (outcome == PoolOutcome.Full)
        {
            if (BestForRun(count, atLeastResident: residentOnly ? count : 0) is not BlockArena best)
            {
                return null;
            }

            // Another thread may have been faster: then all are looked at again.
            int first = best.TryClaimRun(count);
            if (first >= 0)
            {
                coldBlocks = count - best.ResidentWithin(first, count);
                return best.TryTake(first, count, ref refusals, out outcome);
            }
        }

        return null;
    }

    /// <summary>
    /// Takes up to <paramref name="count"/> free blocks, with or without memory behind them as asked, and adds them to an allocation,
    /// adjacent ones as one run.
    /// </summary>
    /// <param name="count">The blocks wanted.</param>
    /// <param name="resident">Whether those with memory are wanted, or those without.</param>
    /// <param name="allocation">Gets the blocks and runs.</param>
    /// <param name="refusals">What the request was refused so far.</param>
    /// <param name="result">Made worse where the system had to give memory, or refused.</param>
    /// <returns>The number of blocks taken.</returns>
    public int TakeMany(int count, bool resident, ref Allocation allocation, ref Refusals refusals, ref PoolOutcome result)
    {
        int taken = 0;
        BlockArena[] arenas = All;
        for (int i = 0; i < arenas.Length && taken < count && result < PoolOutcome.Full; i++)
        {
            BlockArena arena = arenas[i];
            ulong claimed = arena.TryClaimMany(count - taken, resident);
            try
            {
                while (claimed != 0)
                {
                    int first = BitOperations.TrailingZeroCount(claimed);
                    int length = arena.IsContiguous ? BlockBits.LengthAt(claimed, first) : 1;
                    claimed &= ~(BlockBits.Mask(length) << first);
                    if (arena.TryTake(first, length, ref refusals, out PoolOutcome outcome) is BlockGuard run)
                    {
                        allocation.Add(run);
                        taken += length;
                    }

                    result = outcome > result ? outcome : result;
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

    /// <summary>Makes the lowest free block without memory resident, and leaves it free.</summary>
    /// <returns>
    /// <see cref="PoolOutcome.Cold"/> where that was done, <see cref="PoolOutcome.Hit"/> where another thread took the block,
    /// <see cref="PoolOutcome.Full"/> where there is none, and <see cref="PoolOutcome.Refused"/>.
    /// </returns>
    public PoolOutcome Prefault(ref Refusals refusals)
    {
        if (Fullest(resident: false) is not BlockArena arena)
        {
            return PoolOutcome.Full;
        }

        int index = arena.TryClaim(resident: false);
        if (index < 0)
        {
            return PoolOutcome.Hit;
        }

        bool isReady = arena.TryReady(index, 1, ref refusals, out _);
        if (isReady)
        {
            arena.Prefault(index);
        }

        arena.Release(index, 1);
        return isReady ? PoolOutcome.Cold : PoolOutcome.Refused;
    }

    /// <summary>Adds an arena, unless another thread has done so since the caller looked.</summary>
    /// <param name="seen">The arenas in which the caller found nothing.</param>
    /// <param name="atLeastBlocks">The blocks that it must have to be of use.</param>
    /// <param name="outcome">Set to <see cref="PoolOutcome.Refused"/> where the system is the reason that there are no more; left alone otherwise.</param>
    /// <returns>True where there are others to look into now; false where there can be no more blocks.</returns>
    public bool TryGrow(BlockArena[] seen, int atLeastBlocks, ref PoolOutcome outcome)
    {
        if (All != seen)
        {
            return true;
        }

        int blocks = 0;
        foreach (BlockArena arena in seen)
        {
            blocks += arena.BlockCount;
        }

        int count = Math.Min(BlockArena.MaximumBlocks, _geometry.MaximumBlocks - blocks);
        if (count < atLeastBlocks)
        {
            return false;
        }

        if (TryCreateStorage(atLeastBlocks, ref count) is not BlockStorage storage)
        {
            outcome = PoolOutcome.Refused;
            return false;
        }

        bool added = false;
        try
        {
            BlockArena grown = new(_pool, storage, _geometry.BlockSizeInBytes, count, _context);

            // Where another thread was faster, its blocks are as good.
            added = Interlocked.CompareExchange(ref _all, [.. seen, grown], seen) == seen;
            return true;
        }
        finally
        {
            if (!added)
            {
                storage.Release();
            }
        }
    }

    // A reservation that the system refuses is halved and tried again: under RLIMIT_AS and in 32 bits a smaller one may fit.
    private BlockStorage? TryCreateStorage(int atLeastBlocks, ref int blockCount)
    {
        for (; blockCount >= atLeastBlocks; blockCount /= 2)
        {
            if (BlockStorage.TryCreate(_source, _geometry.BlockSizeInBytes, blockCount) is BlockStorage storage)
            {
                return storage;
            }
        }

        return null;
    }

    // The arena with the fewest free blocks among those that have one to offer: the others empty out, and have room for runs.
    private BlockArena? Fullest(bool resident)
    {
        BlockArena? fullest = null;
        int fewest = int.MaxValue;
        foreach (BlockArena arena in All)
        {
            int free = arena.FreeCount;
            if (free < fewest && (resident ? arena.HasFreeResident : arena.HasFreeCold))
            {
                fullest = arena;
                fewest = free;
            }
        }

        return fullest;
    }

    // The arena whose best place for a run needs the least new memory; null where none has as many blocks with memory in a row as asked.
    private BlockArena? BestForRun(int count, int atLeastResident)
    {
        BlockArena? best = null;
        int most = atLeastResident - 1;
        foreach (BlockArena arena in All)
        {
            int resident = arena.ResidentInBestRun(count);
            if (resident > most)
            {
                best = arena;
                most = resident;
            }
        }

        return best;
    }
}

/// <summary>How a request to the pool ended.</summary>
internal enum PoolOutcome
{
    /// <summary>Idle memory served it.</summary>
    Hit,

    /// <summary>The pool served it, with memory that the system had to give.</summary>
    Cold,

    /// <summary>The pool has nothing free, or no such run.</summary>
    Full,

    /// <summary>The system refused.</summary>
    Refused,
}
