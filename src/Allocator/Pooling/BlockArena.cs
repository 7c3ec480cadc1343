using System.Numerics;
using Allocator.Lifetime;
using Allocator.Native;

namespace Allocator.Pooling;

/// <summary>
/// Up to 64 blocks, and the map of those that are free. The thread that clears a block's bit holds the block: to rent it, to put memory
/// behind it, or to take that away. No lock, and no tag: a map that changed and changed back may be treated as unchanged.
/// </summary>
[DebuggerDisplay("{FreeCount} of {BlockCount} blocks free, {CommittedCount} with memory")]
internal sealed partial class BlockArena
{
    /// <summary>The most blocks of one arena: the bits of the map, and so the longest contiguous run.</summary>
    public const int MaximumBlocks = 64;

    private readonly UniformUnmanagedMemoryPool _pool;
    private readonly AllocatorContext _context;
    private readonly nint[] _addresses;
    private readonly long[] _statesAtLastLook;
    private readonly ulong _all;
    private readonly long _residentUnitInBytes;
    private BlockBits _free;
    private BlockBits _committed;

    // The blocks known to be zero: never rented, purged since, or cleared when they came back. With ClearOnReturn a bit stays set during
    // a rent, and then says nothing of the renter's part. A thread writes bits of blocks that it holds; seldom, as most are dirty.
    private BlockBits _zeroed;

    // The blocks that have memory and are not registered, because BlockCommitted threw. A thread writes bits of blocks that it holds.
    private BlockBits _unregistered;

    // The blocks that were used since the last look for idle ones, but whose state does not show it: behind the first of a run, or made
    // resident.
    private BlockBits _used;
    private long _stale;

    /// <summary>Makes an arena of a reservation; of 0 where the source makes none, and each block is an allocation of a heap.</summary>
    public BlockArena(
        UniformUnmanagedMemoryPool pool, NativeMemorySource source, nint reservation, int blockSizeInBytes, int blockCount,
        AllocatorContext context)
    {
        _pool = pool;
        _source = source;
        _reservation = reservation;
        _context = context;
        BlockSizeInBytes = blockSizeInBytes;
        BlockCount = blockCount;
        Records = new BlockRecord[blockCount];
        _statesAtLastLook = new long[blockCount];
        _addresses = new nint[blockCount];
        _all = BlockBits.Mask(blockCount);
        _residentUnitInBytes = source.ResidentUnitInBytes;
        _free.Value = (long)_all;
        _zeroed.Value = IsContiguous && Reserving.MapsZeroed ? (long)_all : 0;

        // All objects are made now: a rent that had to make one could fail while it holds a block. First all records, then all guards:
        // each record then lies on cache lines of its own, and shares none with a guard that another thread reads.
        for (int i = 0; i < blockCount; i++)
        {
            Records[i] = new BlockRecord(this, i);
        }

        for (int i = 0; i < blockCount; i++)
        {
            Records[i].Guard = new BlockGuard(pool, this, i, context);
        }
    }

    public int BlockSizeInBytes { get; }

    public int BlockCount { get; }

    /// <summary>Gets whether blocks with adjacent numbers are adjacent in memory.</summary>
    public bool IsContiguous => _reservation != 0;

    /// <summary>Gets what changes with every rent, by block.</summary>
    public BlockRecord[] Records { get; }

    public int FreeCount => BitOperations.PopCount(Free);

    public int CommittedCount => BitOperations.PopCount(Committed);

    private ulong Free => (ulong)Volatile.Read(ref _free.Value);

    private ulong Committed => (ulong)Volatile.Read(ref _committed.Value);

    private ulong Unregistered => (ulong)Volatile.Read(ref _unregistered.Value);

    private ulong Zeroed => (ulong)Volatile.Read(ref _zeroed.Value);

    // Those in the cache, and those that are outstanding.
    private ulong InNoMap => Committed & ~Free;

    /// <summary>Returns whether a block is free, with or without memory behind it as asked.</summary>
    public bool HasFree(bool resident) => (Free & (resident ? Committed : ~Committed)) != 0;

    /// <summary>Claims the lowest free block, with or without memory behind it as asked; -1 where there is none.</summary>
    /// <remarks>Whether there is memory is only a hint until the block is held: see <see cref="TryReady"/>.</remarks>
    public int TryClaim(bool resident)
    {
        ulong claimed = TryClaimMany(1, resident);
        return claimed == 0 ? -1 : BitOperations.TrailingZeroCount(claimed);
    }

    /// <summary>As <see cref="TryClaim(bool)"/>, up to <paramref name="count"/> blocks in one step, lowest first.</summary>
    public ulong TryClaimMany(int count, bool resident)
    {
        while (true)
        {
            ulong free = Free;
            ulong claimed = BlockBits.Lowest(free & (resident ? Committed : ~Committed), count);
            if (claimed == 0 || TryClaim(free, claimed))
            {
                return claimed;
            }
        }
    }

    /// <summary>Returns how many blocks have memory of the run that <see cref="TryClaimRun"/> would claim now; -1 for none.</summary>
    public int ResidentInBestRun(int count)
    {
        BlockBits.FindBest(Free, Committed, count, out int resident);
        return resident;
    }

    /// <summary>Returns how many blocks of a run have memory.</summary>
    public int ResidentWithin(int first, int count) => BitOperations.PopCount(Committed & (BlockBits.Mask(count) << first));

    /// <summary>Claims the run of free blocks that needs the least new memory; returns its first, -1 where there is none.</summary>
    public int TryClaimRun(int count)
    {
        while (true)
        {
            ulong free = Free;
            int index = BlockBits.FindBest(free, Committed, count, out _);
            if (index < 0 || TryClaim(free, BlockBits.Mask(count) << index))
            {
                return index;
            }
        }
    }

    /// <summary>Claims one given block. False where it is not free.</summary>
    public bool TryClaimBlock(int index)
    {
        ulong free = Free;
        while ((free & (1UL << index)) != 0)
        {
            if (TryClaim(free, 1UL << index))
            {
                return true;
            }

            free = Free;
        }

        return false;
    }

    /// <summary>Takes a single block that lies in the pool's cache, whatever slot names it; null where there is none.</summary>
    public BlockGuard? TryTakeCached()
    {
        BlockGuard? guard = null;
        for (ulong blocks = InNoMap; blocks != 0 && guard is null; blocks &= blocks - 1)
        {
            guard = Records[BitOperations.TrailingZeroCount(blocks)].TryTakeCached();
        }

        return guard;
    }

    /// <summary>Puts what lies in the pool's cache into the map: all, or what is wanted; false for none.</summary>
    public bool DrainCached(Func<BlockRecord, bool>? isWanted)
    {
        bool any = false;
        for (ulong blocks = InNoMap; blocks != 0; blocks &= blocks - 1)
        {
            BlockRecord block = Records[BitOperations.TrailingZeroCount(blocks)];
            if (block.IsCached && isWanted?.Invoke(block) != false && block.TryLeaveCache())
            {
                Return(BlocksOf(block));
                any = true;
            }
        }

        return any;
    }

    /// <summary>Takes the guard of a run of blocks out of the pool's reach. The caller holds them, with memory behind them.</summary>
    public BlockGuard TakeGuard(int first, int count)
    {
        AssertHeld(BlockBits.Mask(count) << first);
        BlockGuard guard = Records[first].TakeGuard();
        guard.Place(_addresses[first], count);
        return guard;
    }

    /// <summary>Puts a guard and its blocks back into the map.</summary>
    public void Return(BlockGuard guard)
    {
        guard.Block.Guard = guard;
        MarkRunUsed(guard);
        Return(BlocksOf(guard.Block));
    }

    /// <summary>Notes that the blocks of a run behind its first, which the caller holds, were used until now.</summary>
    public void MarkRunUsed(BlockGuard guard)
    {
        if (guard.RunLength > 1)
        {
            MarkUsed(BlocksOf(guard.Block));
        }
    }

    /// <summary>Puts held blocks back into the map whose guards are still here.</summary>
    public void Return(ulong blocks)
    {
        AssertHeld(blocks);
        Interlocked.Or(ref _free.Value, (long)blocks);
    }

    /// <summary>Zeroes the beginning of a run, block by block. Blocks known to be zero are left alone unless told otherwise.</summary>
    public void ClearRun(int first, long lengthInBytes, bool evenIfZeroed)
    {
        for (int i = first; lengthInBytes > 0; i++)
        {
            if (evenIfZeroed || (Zeroed & (1UL << i)) == 0)
            {
                NativeBytes.Clear(_addresses[i], Math.Min(lengthInBytes, BlockSizeInBytes));
            }

            lengthInBytes -= BlockSizeInBytes;
        }
    }

    /// <summary>Notes that blocks, which the caller holds, may hold anything from now on.</summary>
    public void MarkDirty(int first, int count)
    {
        ulong blocks = BlockBits.Mask(count) << first;
        AssertHeld(blocks);
        if ((Zeroed & blocks) != 0)
        {
            Interlocked.And(ref _zeroed.Value, (long)~blocks);
        }
    }

    /// <summary>
    /// Finds the blocks with memory that were idle at the last look and have not been used since, and returns their number. One call at a
    /// time. A block whose generation is the same was not rented, so a rent need not count anything for this.
    /// </summary>
    public int LookForStale()
    {
        ulong stale = 0;
        ulong blocks = Committed & ~(ulong)Interlocked.Exchange(ref _used.Value, 0);
        for (int i = 0; i < BlockCount; i++)
        {
            long state = Records[i].StateInAnyPlace;
            if (state == _statesAtLastLook[i] && RentState.IsIdle(state) && (blocks & (1UL << i)) != 0 && !IsInsideRun(i))
            {
                stale |= 1UL << i;
            }

            _statesAtLastLook[i] = state;
        }

        Volatile.Write(ref _stale, (long)stale);
        return BitOperations.PopCount(stale);
    }

    /// <summary>Returns whether a block was idle through the time between the last two looks, and since.</summary>
    public bool IsStale(int index) =>
        (Volatile.Read(ref _stale) & ~Volatile.Read(ref _used.Value) & (1L << index)) != 0
            && Records[index].StateInAnyPlace == _statesAtLastLook[index];

    /// <summary>Returns how many bytes of a run the container has not granted, as far as a renter can reach.</summary>
    public long UngrantedBytes(int first, int count, long usedBytes)
    {
        long bytes = 0;
        for (int i = 0; i < count; i++)
        {
            // Nearly always all of it.
            long granted = Records[first + i].GrantedBytes;
            bytes += granted == BlockSizeInBytes ? 0 : Math.Max(0, EndOf(i, usedBytes) - granted);
        }

        return bytes;
    }

    public bool IsResident(int index) => (Committed & (1UL << index)) != 0;

    // As far as where a renter of a run can reach in one of its blocks. A part of a huge page is as resident as all of it.
    private long EndOf(int indexInRun, long usedBytes)
    {
        long used = Math.Max(0, usedBytes - (long)indexInRun * BlockSizeInBytes);
        return Math.Min(BlockSizeInBytes, (used + _residentUnitInBytes - 1) & -_residentUnitInBytes);
    }

    // The runtime's own read: none that the schedule explorer counts as a step.
    [Conditional("DEBUG")]
    private void AssertHeld(ulong blocks) =>
        Debug.Assert(((ulong)System.Threading.Volatile.Read(ref _free.Value) & blocks) == 0, "The caller does not hold the blocks.");

    private static ulong BlocksOf(BlockRecord first) =>
        first.RunLength == 1 ? 1UL << first.Index : BlockBits.Mask(first.RunLength) << first.Index;

    private bool TryClaim(ulong free, ulong bits) =>
        Interlocked.CompareExchange(ref _free.Value, (long)(free & ~bits), (long)free) == (long)free;

    // Written only where a bit changes, which is seldom: otherwise every return of a run would take an interlocked operation.
    private void MarkUsed(ulong blocks)
    {
        AssertHeld(blocks);
        if (((ulong)Volatile.Read(ref _used.Value) & blocks) != blocks)
        {
            Interlocked.Or(ref _used.Value, (long)blocks);
        }
    }

    // The blocks of a run behind its first are outstanding too, and only the first one's state says so.
    private bool IsInsideRun(int index)
    {
        for (int first = index - 1; first >= 0; first--)
        {
            if (!RentState.IsIdle(Volatile.Read(ref Records[first].State)) && Records[first].RunLength > index - first)
            {
                return true;
            }
        }

        return false;
    }
}
