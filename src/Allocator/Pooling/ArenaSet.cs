using System;
using System.Threading;
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

    /// <summary>Gives the arena with the fewest free blocks among those that have one to offer, with or without memory as asked: the others empty out, and have room for runs.</summary>
    public BlockArena? Fullest(bool resident)
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

    /// <summary>Gives the arena whose best place for a run needs the least new memory; null where none has as many blocks with memory in a row as asked.</summary>
    public BlockArena? BestForRun(int count, int atLeastResident)
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
        if (_source is not VirtualMemorySource reserving)
        {
            return new SeparateBlockStorage(_source, _geometry.BlockSizeInBytes);
        }

        for (; blockCount >= atLeastBlocks; blockCount /= 2)
        {
            if (ReservedBlockStorage.TryCreate(reserving, _geometry.BlockSizeInBytes, blockCount) is BlockStorage storage)
            {
                return storage;
            }
        }

        return null;
    }
}
