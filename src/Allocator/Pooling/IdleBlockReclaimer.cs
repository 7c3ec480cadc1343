using System;
using Allocator.Diagnostics;
using Allocator.Native;

namespace Allocator.Pooling;

/// <summary>
/// Gives idle blocks back to the system, one after the other. It holds the block that it works on like a renter would,
/// so the system call blocks no other thread, and at most one block is missing from the pool meanwhile. Where the pool keeps its blocks it
/// gives none back before the pool is closed.
/// </summary>
internal sealed class IdleBlockReclaimer
{
    private readonly UniformUnmanagedMemoryPool _pool;
    private readonly AllocatorCounters _counters;

    public IdleBlockReclaimer(UniformUnmanagedMemoryPool pool, AllocatorCounters counters)
    {
        _pool = pool;
        _counters = counters;
    }

    /// <summary>
    /// Gives back a part, rounded up, of the blocks that have been idle since the last call, and through all the time between that one and
    /// the call before it. One call at a time.
    /// </summary>
    /// <returns>The bytes given back.</returns>
    public long TrimStale(double rate)
    {
        RefusedRanges.Retry();
        if (_pool.KeepsBlocks)
        {
            return 0;
        }

        BlockArena[] arenas = _pool.Arenas;
        int stale = 0;
        foreach (BlockArena arena in arenas)
        {
            stale += arena.LookForStale();
        }

        int quota = (int)Math.Ceiling(stale * rate);
        if (quota > 0)
        {
            _pool.DrainCache(IsStale);
        }

        long bytes = 0;

        // The last arenas and the highest blocks first: singles are served from the other end.
        for (int i = arenas.Length - 1; i >= 0 && quota > 0; i--)
        {
            for (int index = arenas[i].BlockCount - 1; index >= 0 && quota > 0; index--)
            {
                if (arenas[i].Idleness.IsStale(index) && arenas[i].TryClaimBlock(index))
                {
                    try
                    {
                        bytes += PurgeStale(arenas[i], index, ref quota);
                    }
                    finally
                    {
                        arenas[i].Release(index, 1);
                    }
                }
            }
        }

        _pool.ReleaseIfClosed();
        return Count(TrimReason.Period, bytes);
    }

    /// <summary>Gives back up to <paramref name="count"/> idle blocks, because as many others have just been given memory.</summary>
    public void Exchange(int count)
    {
        if (!_pool.KeepsBlocks)
        {
            PurgeSome(count, TrimReason.Exchange);
        }

        _pool.ReleaseIfClosed();
    }

    /// <summary>Gives back as many idle blocks as make up so many bytes, or all there are.</summary>
    /// <returns>The bytes given back.</returns>
    public long TrimSome(long bytes)
    {
        if (_pool.KeepsBlocks)
        {
            return 0;
        }

        long count = (bytes + _pool.BlockSizeInBytes - 1) / _pool.BlockSizeInBytes;
        long trimmed = PurgeSome(count, TrimReason.Refusal);

        // What lies in the cache last: it is in use all the time.
        long missing = count - trimmed / _pool.BlockSizeInBytes;
        if (missing > 0 && _pool.DrainCache())
        {
            trimmed += PurgeSome(missing, TrimReason.Refusal);
        }

        _pool.ReleaseIfClosed();
        return trimmed;
    }

    /// <summary>Gives back all idle blocks.</summary>
    /// <returns>The bytes given back.</returns>
    public long TrimAll(TrimReason reason)
    {
        RefusedRanges.Retry();
        long bytes = _pool.KeepsBlocks ? 0 : PurgeAll(reason);
        _pool.ReleaseIfClosed();
        return bytes;
    }

    /// <summary>
    /// Gives back all idle blocks, and the addresses of the arenas of which no block is outstanding, once the pool is closed.
    /// </summary>
    public void ReleaseAll()
    {
        PurgeAll(TrimReason.Requested);
        foreach (BlockArena arena in _pool.Arenas)
        {
            arena.TryReleaseAll();
        }
    }

    private long PurgeAll(TrimReason reason)
    {
        _pool.DrainCache();
        return PurgeSome(long.MaxValue, reason);
    }

    // The last arenas and the highest blocks first: singles are served from the other end.
    private long PurgeSome(long count, TrimReason reason)
    {
        long bytes = 0;
        BlockArena[] arenas = _pool.Arenas;
        for (int i = arenas.Length - 1; i >= 0 && count > 0; i--)
        {
            BlockArena arena = arenas[i];
            for (int index = arena.BlockCount - 1; index >= 0 && count > 0; index--)
            {
                if (arena.IsResident(index) && arena.TryClaimBlock(index))
                {
                    try
                    {
                        if (arena.TryPurge(index))
                        {
                            bytes += arena.BlockSizeInBytes;
                            count--;
                        }
                    }
                    finally
                    {
                        arena.Release(index, 1);
                    }
                }
            }
        }

        return Count(reason, bytes);
    }

    // No lambda: the class of those has a type initializer, and one that fails for want of memory fails for ever.
    private static bool IsStale(BlockGuard block) => block.Arena.Idleness.IsStale(block.Index);

    // Of a block that is held: it may have been rented and returned between the look and the claim.
    private static long PurgeStale(BlockArena arena, int index, ref int quota)
    {
        if (!arena.Idleness.IsStale(index) || !arena.TryPurge(index))
        {
            return 0;
        }

        quota--;
        return arena.BlockSizeInBytes;
    }

    private long Count(TrimReason reason, long bytes)
    {
        _counters.CountTrim(reason, bytes);
        return bytes;
    }
}
