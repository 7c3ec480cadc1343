using Allocator.Diagnostics;
using Allocator.Lifetime;

namespace Allocator.Pooling;

/// <summary>
/// Returns idle blocks to the system, one after the other, and counts the bytes. It holds the block that it works on like a renter, so the
/// system call blocks no other thread, and at most one block is missing from the pool meanwhile. If the pool keeps its blocks, none goes
/// before the pool is closed.
/// </summary>
internal sealed class IdleBlocks(UniformUnmanagedMemoryPool pool, AllocatorCounters counters) : IIdleMemory
{
    private readonly UniformUnmanagedMemoryPool _pool = pool;
    private readonly AllocatorCounters _counters = counters;

    public long IdleBytes => _pool.ReadUsage().RetainedBytes;

    /// <inheritdoc/>
    public long TrimStale(double rate)
    {
        int stale = 0;
        foreach (BlockArena arena in _pool.Arenas)
        {
            stale += arena.LookForStale();
        }

        int quota = (int)Math.Ceiling(stale * rate);
        if (quota > 0)
        {
            _pool.DrainCache(IsStale);
        }

        return End(ReleaseBlocks(quota, staleOnly: true));
    }

    /// <inheritdoc/>
    public long Release(long bytes)
    {
        // Blocks in the cache are in use all the time. They go last, and each is tried once.
        bool isAll = bytes == long.MaxValue;
        if (isAll)
        {
            _pool.DrainCache();
        }

        long count = bytes / _pool.BlockSizeInBytes + (bytes % _pool.BlockSizeInBytes == 0 ? 0 : 1);
        long trimmed = ReleaseBlocks(count, staleOnly: false);
        long missing = count - trimmed / _pool.BlockSizeInBytes;
        if (missing > 0 && !isAll && _pool.DrainCache())
        {
            trimmed += ReleaseBlocks(missing, staleOnly: false);
        }

        return End(trimmed);
    }

    /// <summary>Releases up to <paramref name="count"/> idle blocks of the maps, because as many others have just got memory.</summary>
    public void Exchange(int count) => _counters.CountTrim(TrimReason.Exchange, End(ReleaseBlocks(count, staleOnly: false)));

    /// <summary>Releases all idle blocks of a closed pool, and the addresses of arenas without outstanding blocks.</summary>
    public void ReleaseAll()
    {
        _pool.DrainCache();
        _counters.CountTrim(TrimReason.Requested, ReleaseBlocks(long.MaxValue, staleOnly: false));
        foreach (BlockArena arena in _pool.Arenas)
        {
            arena.TryReleaseAll();
        }
    }

    private long End(long bytes)
    {
        _pool.ReleaseIfClosed();
        return bytes;
    }

    // The last arenas and the highest blocks first: single blocks are served from the other end.
    private long ReleaseBlocks(long count, bool staleOnly)
    {
        long bytes = 0;
        BlockArena[] arenas = _pool.KeepsBlocks && !_pool.IsClosed ? [] : _pool.Arenas;
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
