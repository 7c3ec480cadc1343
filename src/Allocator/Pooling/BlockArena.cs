using System;
using System.Numerics;
using System.Runtime.CompilerServices;
using System.Threading;
using Allocator.Lifetime;
using Allocator.Native;

namespace Allocator.Pooling;

/// <summary>
/// Up to 64 blocks, and the map of those that are free. Whoever clears a block's bit holds the block: to rent it, to give it memory, or to take that away.
/// No state is guarded by a lock, and a map that looks as before is as good as unchanged, so no tag is needed against its coming back.
/// </summary>
internal sealed partial class BlockArena
{
    /// <summary>The most blocks of one arena: the bits of the map, and so the longest contiguous run.</summary>
    public const int MaximumBlocks = 64;

    private readonly UniformUnmanagedMemoryPool _pool;
    private readonly BlockStorage _storage;
    private readonly AllocatorContext _context;
    private readonly BlockGuard?[] _guards;
    private readonly nint[] _addresses;
    private readonly ulong _all;
    private BlockBits _free;
    private BlockBits _committed;

    // The blocks known to be zero; through a rent: that were, but for what the renter could reach. Written for blocks that the writer holds, and seldom: most are dirty.
    private BlockBits _zeroed;

    // The blocks with memory that the user's code does not know, because it threw when it was told of them.
    // Written for blocks that the writer holds.
    private BlockBits _unregistered;

    public BlockArena(UniformUnmanagedMemoryPool pool, BlockStorage storage, int blockSizeInBytes, int blockCount, AllocatorContext context)
    {
        _pool = pool;
        _storage = storage;
        _context = context;
        BlockSizeInBytes = blockSizeInBytes;
        BlockCount = blockCount;
        Records = new BlockState[blockCount];
        Idleness = new IdlenessWatch(Records);
        _addresses = new nint[blockCount];
        _all = BlockBits.Mask(blockCount);
        _free.Value = (long)_all;

        // All of them now: a rent that had to make one could fail with a block in hand.
        _guards = new BlockGuard?[blockCount];
        for (int i = 0; i < blockCount; i++)
        {
            _guards[i] = new BlockGuard(pool, this, i, context);
        }
    }

    public int BlockSizeInBytes { get; }

    public int BlockCount { get; }

    public bool IsContiguous => _storage.IsContiguous;

    /// <summary>Gets what changes with every rent, by block.</summary>
    public BlockState[] Records { get; }

    /// <summary>Gets what knows since when blocks lie idle.</summary>
    public IdlenessWatch Idleness { get; }

    public int FreeCount => BitOperations.PopCount(Free);

    public int CommittedCount => BitOperations.PopCount(Committed);

    public bool HasFreeResident => (Free & Committed) != 0;

    public bool HasFreeCold => (Free & ~Committed) != 0;

    private ulong Free => (ulong)Volatile.Read(ref _free.Value);

    private ulong Committed => (ulong)Volatile.Read(ref _committed.Value);

    private ulong Unregistered => (ulong)Volatile.Read(ref _unregistered.Value);

    private ulong Zeroed => (ulong)Volatile.Read(ref _zeroed.Value);

    /// <summary>Claims the lowest free block, with or without memory behind it as asked; -1 where there is none.</summary>
    /// <remarks>Whether there is memory is only a hint until the block is held: see <see cref="TryReady"/>.</remarks>
    public int TryClaim(bool resident)
    {
        while (true)
        {
            ulong free = Free;
            ulong candidates = free & (resident ? Committed : ~Committed);
            if (candidates == 0)
            {
                return -1;
            }

            int index = BitOperations.TrailingZeroCount(candidates);
            if (TryClaim(free, 1UL << index))
            {
                return index;
            }
        }
    }

    /// <summary>Claims up to <paramref name="count"/> free blocks in one step, lowest first, with or without memory behind them as asked.</summary>
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

    /// <summary>Gives how many blocks have memory of the run that <see cref="TryClaimRun"/> would claim now; -1 where there is none.</summary>
    public int ResidentInBestRun(int count)
    {
        BlockBits.FindBest(Free, Committed, count, out int resident);
        return resident;
    }

    /// <summary>Gives how many blocks of a run have memory.</summary>
    public int ResidentWithin(int first, int count) => BitOperations.PopCount(Committed & (BlockBits.Mask(count) << first));

    /// <summary>Claims the run of adjacent free blocks that needs the least new memory, and gives the number of its first; -1 where there is none.</summary>
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
        while (true)
        {
            ulong free = Free;
            if ((free & (1UL << index)) == 0)
            {
                return false;
            }

            if (TryClaim(free, 1UL << index))
            {
                return true;
            }
        }
    }

    /// <summary>Takes the guard of a run of blocks out of the pool's reach. pre: all held by the caller, with memory behind them.</summary>
    public BlockGuard TakeGuard(int first, int count)
    {
        BlockGuard guard = _guards[first]!;
        _guards[first] = null;
        guard.Place(_addresses[first], count);
        return guard;
    }

    /// <summary>Puts a guard and its blocks back into the map.</summary>
    public void Return(BlockGuard guard)
    {
        int count = guard.RunLength;
        _guards[guard.Index] = guard;
        if (count > 1)
        {
            Idleness.MarkUsed(BlockBits.Mask(count) << guard.Index);
        }

        Release(guard.Index, count);
    }

    /// <summary>Puts held blocks back into the map whose guards are still here.</summary>
    public void Release(int first, int count) => Interlocked.Or(ref _free.Value, (long)(BlockBits.Mask(count) << first));

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

    /// <summary>Notes that blocks may hold anything. pre: all held by the caller.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void MarkDirty(int first, int count)
    {
        ulong blocks = BlockBits.Mask(count) << first;
        if ((Zeroed & blocks) != 0)
        {
            Interlocked.And(ref _zeroed.Value, (long)~blocks);
        }
    }

    /// <summary>Finds the blocks with memory that were idle at the last look and have not been used since, and gives their number.</summary>
    public int LookForStale() => Idleness.Look(Committed);

    public bool IsResident(int index) => (Committed & (1UL << index)) != 0;

    private bool IsRegistered(int index) => (Unregistered & (1UL << index)) == 0;

    private bool TryClaim(ulong free, ulong bits) =>
        Interlocked.CompareExchange(ref _free.Value, (long)(free & ~bits), (long)free) == (long)free;
}
