using System.Numerics;
using Allocator.Lifetime;
using Allocator.Native;

namespace Allocator.Pooling;

/// <summary>
/// Up to 64 blocks, and the map of free ones. The thread that clears a block's bit holds the block: to rent it, to put memory behind it,
/// or to take that memory away. No lock and no tag: a map that changed and changed back may be treated as unchanged.
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

    // The blocks known to be zero: never rented, purged since, or cleared when they came back. With ClearOnReturn a bit stays set during a
    // rent, and then says nothing about the renter's part. Only a block's holder writes its bit; seldom, as most blocks are dirty.
    private BlockBits _zeroed;

    // The blocks that have memory but are not registered, because BlockCommitted threw. Only a block's holder writes its bit.
    private BlockBits _unregistered;

    // The blocks that were used since the last look for idle ones although their state does not show it: those behind the first of a run,
    // and those made resident.
    private BlockBits _used;
    private long _stale;

    /// <summary>Makes an arena of a reservation. If that is 0, the source makes none, and each block is an allocation of a heap.</summary>
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

        // All objects are made now: if a rent had to make one, it could fail while it holds a block. Records come first, then guards: so
        // each record lies on cache lines of its own, and shares none with a guard that another thread reads.
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

    public BlockRecord[] Records { get; }

    public int FreeCount => BitOperations.PopCount(Free);

    public int CommittedCount => BitOperations.PopCount(Committed);

    private ulong Free => (ulong)Volatile.Read(ref _free.Value);

    private ulong Committed => (ulong)Volatile.Read(ref _committed.Value);

    private ulong Unregistered => (ulong)Volatile.Read(ref _unregistered.Value);

    private ulong Zeroed => (ulong)Volatile.Read(ref _zeroed.Value);

    // The blocks in the cache, and the outstanding ones.
    private ulong InNoMap => Committed & ~Free;

    /// <summary>Returns whether a free block has memory, or none, as asked.</summary>
    public bool HasFree(bool resident) => (Free & (resident ? Committed : ~Committed)) != 0;

    /// <summary>Claims up to this many free blocks with memory, or without, as requested: in one step, lowest first.</summary>
    /// <remarks>Whether they have memory is only a hint until they are held: see <see cref="TryReady"/>.</remarks>
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

    /// <summary>Returns how many blocks have memory in the run that <see cref="TryClaimRun"/> would claim; -1 if there is none.</summary>
    public int ResidentInBestRun(int count)
    {
        BlockBits.FindBest(Free, Committed, count, out int resident);
        return resident;
    }

    public int ResidentWithin(int first, int count) => BitOperations.PopCount(Committed & (BlockBits.Mask(count) << first));

    /// <summary>Claims the run of free blocks that needs the least new memory. Returns its first block, or -1 if there is none.</summary>
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

    public bool TryClaimBlock(int index)
    {
        for (ulong free = Free; (free & (1UL << index)) != 0; free = Free)
        {
            if (TryClaim(free, 1UL << index))
            {
                return true;
            }
        }

        return false;
    }

    /// <summary>Takes a single block from the pool's cache, whichever slot it is in. Null if there is none.</summary>
    public BlockGuard? TryTakeCached()
    {
        BlockGuard? guard = null;
        for (ulong blocks = InNoMap; blocks != 0 && guard is null; blocks &= blocks - 1)
        {
            guard = Records[BitOperations.TrailingZeroCount(blocks)].TryTakeCached();
        }

        return guard;
    }

    public bool DrainCached(Func<BlockRecord, bool>? isWanted)
    {
        bool any = false;
        for (ulong blocks = InNoMap; blocks != 0; blocks &= blocks - 1)
        {
            BlockRecord block = Records[BitOperations.TrailingZeroCount(blocks)];
            if (block.IsCached && isWanted?.Invoke(block) != false && block.TryLeaveCache())
            {
                Return(BlockBits.Mask(block.RunLength) << block.Index);
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
        Return(guard.Blocks);
    }

    /// <summary>Notes that blocks were used until now. The caller holds them.</summary>
    public void MarkUsed(ulong blocks)
    {
        AssertHeld(blocks);

        // Writes only if a bit changes, which is seldom: otherwise every return of a run would take an interlocked operation.
        if (((ulong)Volatile.Read(ref _used.Value) & blocks) != blocks)
        {
            Interlocked.Or(ref _used.Value, (long)blocks);
        }
    }

    /// <summary>Puts held blocks back into the map. Their guards are still here.</summary>
    public void Return(ulong blocks)
    {
        AssertHeld(blocks);
        Interlocked.Or(ref _free.Value, (long)blocks);
    }

    /// <summary>Zeroes the beginning of a run, block by block. Skips blocks known to be zero, unless asked not to.</summary>
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

    /// <summary>Notes that blocks may contain anything from now on. The caller holds them.</summary>
    public void MarkDirty(ulong blocks)
    {
        AssertHeld(blocks);
        if ((Zeroed & blocks) != 0)
        {
            Interlocked.And(ref _zeroed.Value, (long)~blocks);
        }
    }

    /// <summary>
    /// Finds the blocks with memory that were idle at the last look and have not been used since. Returns their number. One call at a
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

    /// <summary>Returns whether a block was idle between the last two looks, and has been since.</summary>
    public bool IsStale(int index) =>
        (Volatile.Read(ref _stale) & ~Volatile.Read(ref _used.Value) & (1L << index)) != 0
            && Records[index].StateInAnyPlace == _statesAtLastLook[index];

    /// <summary>Returns how many of the bytes that a run's renter can reach still need the container's grant.</summary>
    public long UngrantedBytes(int first, int count, long usedBytes)
    {
        (long bytes, long whole) = (0, BlockSizeInBytes);
        foreach (BlockRecord block in Records.AsSpan(first, count))
        {
            // Nearly always the whole block.
            long granted = block.GrantedBytes;
            bytes += granted == whole ? 0 : Math.Max(0, EndOf(block.Index - first, usedBytes) - granted);
        }

        return bytes;
    }

    public bool IsResident(int index) => (Committed & (1UL << index)) != 0;

    // The end of what a renter of the run can reach in one of its blocks. A part of a huge page is as resident as all of it.
    private long EndOf(int indexInRun, long usedBytes)
    {
        long used = Math.Max(0, usedBytes - (long)indexInRun * BlockSizeInBytes);
        return Math.Min(BlockSizeInBytes, (used + _residentUnitInBytes - 1) & -_residentUnitInBytes);
    }

    // Reads with the runtime's own Volatile, so that the schedule explorer does not count a step.
    [Conditional("DEBUG")]
    private void AssertHeld(ulong blocks) =>
        Debug.Assert(((ulong)System.Threading.Volatile.Read(ref _free.Value) & blocks) == 0, "The caller does not hold the blocks.");

    private bool TryClaim(ulong free, ulong bits) =>
        Interlocked.CompareExchange(ref _free.Value, (long)(free & ~bits), (long)free) == (long)free;

    // The other blocks of a run are outstanding too, but only the state of the first says so.
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
