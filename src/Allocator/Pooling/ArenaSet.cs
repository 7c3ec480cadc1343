using System.Numerics;
using Allocator.Budgeting;
using Allocator.Diagnostics;
using Allocator.Lifetime;
using Allocator.Native;

namespace Allocator.Pooling;

/// <summary>
/// The arenas of one pool. Decides which arena a request goes to, adds arenas, and releases idle blocks. Lock-free; none is ever removed.
/// </summary>
/// <remarks>
/// Idle blocks are released one after the other, and each is held like a rented one meanwhile. So the system call blocks no other thread,
/// and at most one block is missing from the pool. If the pool keeps its blocks, none is released before the pool is closed.
/// </remarks>
internal sealed class ArenaSet(
    UniformUnmanagedMemoryPool pool, PoolGeometry geometry, NativeMemorySource source, AllocatorContext context) : IIdleMemory
{
    private BlockArena[] _all = [];

    public BlockArena[] All => Volatile.Read(ref _all);

    /// <summary>Takes the lowest free block of the fullest arena that has one. Null if it cannot; the outcome says why.</summary>
    public BlockGuard? TryTake(bool resident, ref Refusals refusals, ref PoolOutcome outcome)
    {
        while (outcome == PoolOutcome.Full && Fullest(resident) is BlockArena arena)
        {
            ulong claimed = arena.TryClaimMany(1, resident);
            int index = BitOperations.TrailingZeroCount(claimed);
            if (claimed != 0 && arena.TryTake(index, 1, ref refusals, out outcome) is BlockGuard block)
            {
                return block;
            }
        }

        return null;
    }

    /// <summary>Takes adjacent free blocks with memory in one step, for a run or a group. Null if that is not possible.</summary>
    public BlockGuard? TryTakeReady(int count, bool ofGroup)
    {
        foreach (BlockArena arena in All)
        {
            BlockGuard? run = arena.TryTakeReady(count, ofGroup);
            if (run is not null || (ofGroup && arena.HasFree(resident: true)))
            {
                return run;
            }
        }

        return null;
    }

    /// <summary>Takes a single block from the pool's cache, whichever thread put it there. Null if there is none.</summary>
    public BlockGuard? TryTakeCached(ref PoolOutcome outcome)
    {
        foreach (BlockArena arena in outcome == PoolOutcome.Full ? All : [])
        {
            if (arena.TryTakeCached() is BlockGuard block)
            {
                outcome = PoolOutcome.Hit;
                return block.ForRenter();
            }
        }

        return null;
    }

    /// <summary>
    /// Moves blocks from the pool's cache into the free maps: all of them, or those that are wanted. Returns false if there was none. It
    /// may miss a block that another thread caches meanwhile.
    /// </summary>
    public bool DrainCached(Func<BlockRecord, bool>? isWanted = null)
    {
        bool any = false;
        foreach (BlockArena arena in All)
        {
            any |= arena.DrainCached(isWanted);
        }

        return any;
    }

    /// <summary>Takes adjacent free blocks as one run, with the least new memory. Counts blocks that had none.</summary>
    public BlockGuard? TryTakeRun(int count, ref Refusals refusals, ref PoolOutcome outcome, ref int coldBlocks)
    {
        while (outcome == PoolOutcome.Full && BestForRun(count) is BlockArena best)
        {
            // If another thread was faster, all arenas are looked at again.
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
    /// Takes up to <paramref name="count"/> free blocks and adds them to an allocation, adjacent ones as one run. Returns how many. Sets a
    /// worse result if the system had to supply memory, or refused.
    /// </summary>
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
                arena.ReturnUnused(claimed);
                throw;
            }
        }

        return taken;
    }

    /// <summary>Adds an arena of at least this many blocks, unless another thread has done so since the caller looked.</summary>
    /// <returns>True if there is a new arena to look into. False if the pool is at its limit, or the system refuses.</returns>
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

        int count = Math.Min(BlockArena.MaximumBlocks, geometry.MaximumBlocks - blocks);
        if (count < atLeastBlocks)
        {
            return false;
        }

        nint reservation = 0;
        VirtualMemorySource? reserving = source as VirtualMemorySource;
        if (reserving is not null && (reservation = TryReserve(reserving, atLeastBlocks, ref count)) == 0)
        {
            outcome = PoolOutcome.Refused;
            return false;
        }

        bool added = false;
        try
        {
            BlockArena grown = new(pool, source, reservation, geometry.BlockSizeInBytes, count, context);

            // If another thread was faster, its arena serves as well.
            added = Interlocked.CompareExchange(ref _all, [.. seen, grown], seen) == seen;
            return true;
        }
        finally
        {
            if (!added)
            {
                reserving?.Free(reservation, (long)geometry.BlockSizeInBytes * count);
            }
        }
    }

    public long TrimStale(double rate)
    {
        int stale = 0;
        foreach (BlockArena arena in All)
        {
            stale += arena.LookForStale();
        }

        int quota = (int)Math.Ceiling(stale * rate);
        if (quota > 0)
        {
            DrainCached(IsStale);
        }

        return End(ReleaseBlocks(quota, staleOnly: true));
    }

    public long Release(long bytes)
    {
        // Blocks in the cache are in use all the time. They go last, and each is tried once.
        bool isAll = bytes == long.MaxValue;
        if (isAll)
        {
            DrainCached();
        }

        long count = bytes / geometry.BlockSizeInBytes + (bytes % geometry.BlockSizeInBytes == 0 ? 0 : 1);
        long trimmed = ReleaseBlocks(count, staleOnly: false);
        long missing = count - trimmed / geometry.BlockSizeInBytes;
        if (missing > 0 && !isAll && DrainCached())
        {
            trimmed += ReleaseBlocks(missing, staleOnly: false);
        }

        return End(trimmed);
    }

    /// <summary>Releases up to <paramref name="count"/> idle blocks of the maps, because as many others have just got memory.</summary>
    public void Exchange(int count) => context.Counters.CountTrim(TrimReason.Exchange, End(ReleaseBlocks(count, staleOnly: false)));

    /// <summary>Releases all idle blocks of a closed pool, and the addresses of arenas without outstanding blocks.</summary>
    public void ReleaseAll()
    {
        DrainCached();
        context.Counters.CountTrim(TrimReason.Requested, ReleaseBlocks(long.MaxValue, staleOnly: false));
        foreach (BlockArena arena in All)
        {
            arena.TryReleaseAll();
        }
    }

    // If the system refuses a reservation, half of it is tried: under RLIMIT_AS, or in 32 bits, a smaller one may fit.
    private nint TryReserve(VirtualMemorySource source, int atLeastBlocks, ref int count)
    {
        nint address = 0;
        int size = geometry.BlockSizeInBytes;
        for (; count >= atLeastBlocks && (address = source.TryReserve((long)size * count, size)) == 0; count /= 2)
        {
        }

        return address;
    }

    // The arena with the fewest free blocks, but at least one. The other arenas then become empty, and have room for runs.
    private BlockArena? Fullest(bool resident)
    {
        BlockArena? fullest = null;
        int fewest = int.MaxValue;
        foreach (BlockArena arena in All)
        {
            int free = arena.FreeCount;
            if (free < fewest && arena.HasFree(resident))
            {
                fullest = arena;
                fewest = free;
            }
        }

        return fullest;
    }

    // The arena whose best place for a run needs the least new memory. Null if no arena has a place.
    private BlockArena? BestForRun(int count)
    {
        BlockArena? best = null;
        int most = -1;
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

    private long End(long bytes)
    {
        pool.ReleaseIfClosed();
        return bytes;
    }

    // The last arenas and the highest blocks first: single blocks are served from the other end.
    private long ReleaseBlocks(long count, bool staleOnly)
    {
        long bytes = 0;
        BlockArena[] arenas = pool.KeepsBlocks && !pool.IsClosed ? [] : All;
        for (int i = arenas.Length - 1; i >= 0 && count > 0; i--)
        {
            BlockArena arena = arenas[i];
            for (int index = arena.BlockCount - 1; index >= 0 && count > 0; index--)
            {
                if ((staleOnly ? arena.IsStale(index) : arena.IsResident(index)) && TryReleaseBlock(arena, index, staleOnly))
                {
                    bytes += arena.BlockSizeInBytes;
                    count--;
                }
            }
        }

        return bytes;
    }

    // Checks again once the block is held: it may have been rented and returned before the claim.
    private static bool TryReleaseBlock(BlockArena arena, int index, bool staleOnly)
    {
        if (!arena.TryClaimBlock(index))
        {
            return false;
        }

        try
        {
            return (!staleOnly || arena.IsStale(index)) && arena.TryRelease(index);
        }
        finally
        {
            arena.Return(1UL << index);
        }
    }

    // No lambda: the class of lambdas has a type initializer, and if that fails for lack of memory, it fails for ever.
    private static bool IsStale(BlockRecord block) => block.Arena.IsStale(block.Index);
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

    Refused,
}
