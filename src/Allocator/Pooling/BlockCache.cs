using System.Numerics;

namespace Allocator.Pooling;

/// <summary>
/// The first place where a thread looks for a block, before the free maps: a few slots that name one block each. A pool has one cache for
/// single blocks, and one for runs, whose slots name the first block. The block's own state says whether it is idle, so a block that is
/// rented and returned again and again stays in its slot, and a rent takes one compare-exchange. A thread begins at the slot where it last
/// succeeded. No slot belongs to a thread: each thread reaches each block, and a thread that ends leaves nothing behind.
/// </summary>
/// <remarks>
/// While a block is being returned, another block may take its slot. The block is then cached, but in no slot. Code that needs all cached
/// blocks asks the arenas, not the slots.
/// </remarks>
internal sealed class BlockCache
{
    // In references: slots are 128 bytes apart, two cache lines, which processors fetch in pairs. The first slot is as far from the
    // array's length, which each access reads.
    private const int Distance = 16;

    // How many slots a rent or a return looks at before the free maps. A thread that holds four blocks at a time finds all of them here.
    private const int Nearby = 4;

    // Two for each core, rounded down to a power of two. Further idle blocks are in the free maps, where groups and runs find them.
    public static readonly int Capacity = 2 << (63 - BitOperations.LeadingZeroCount((ulong)Environment.ProcessorCount));
    private static readonly int s_nearbyCount = Math.Min(Nearby, Capacity);
    private static readonly int s_mask = (Capacity - 1) * Distance;
    private static int s_lastStart;

    // The slot at which this thread begins, in all pools: a number for each pool would need a search. 0 until a rent finds no block.
    [ThreadStatic]
#pragma warning disable IDE1006 // A naming rule knows one prefix for statics, s_.
    private static int t_start;
#pragma warning restore IDE1006

    // Empty until a rent needs them: an allocator for small buffers pays nothing, and a return allocates nothing.
    private BlockRecord?[] _slots = [];

    /// <summary>Takes a block from one of the slots near the one that the thread remembers, or returns null.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public BlockGuard? TryTake()
    {
        BlockRecord?[] slots = _slots;
        int index = (t_start & s_mask) + Distance;
        return (uint)index < (uint)slots.Length && Volatile.Read(ref slots[index])?.TryTakeCached() is BlockGuard block
            ? block
            : TryTakeNearby(first: 1, count: 1);
    }

    /// <summary>Like <see cref="TryTake"/>, for a run of exactly this many blocks.</summary>
    public BlockGuard? TryTakeRun(int count) => TryTakeNearby(first: 0, count);

    /// <summary>Puts a block into the slot that it was in last. False if that slot names another block by now.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public bool TryReturn(BlockGuard guard, long flag)
    {
        BlockRecord?[] slots = _slots;
        BlockRecord block = guard.Block;
        int index = block.Slot;
        if ((uint)index >= (uint)slots.Length || Volatile.Read(ref slots[index]) != block)
        {
            return false;
        }

        block.EnterCache(guard, flag);
        return true;
    }

    /// <summary>
    /// Puts a block into one of the slots near the one that the thread remembers. The slot must be empty, or name a block that is not
    /// cached. False if there is no such slot.
    /// </summary>
    [MethodImpl(MethodImplOptions.NoInlining)]
    public bool TryReturnSlow(BlockGuard guard, long flag)
    {
        BlockRecord?[] slots = _slots;
        try
        {
            int start = t_start & s_mask;
            for (int i = 0; i < 2 * s_nearbyCount && slots.Length != 0; i++)
            {
                // Empty slots first: so threads that begin at the same slot separate.
                int index = (start ^ (i % s_nearbyCount * Distance)) + Distance;
                BlockRecord? named = Volatile.Read(ref slots[index]);
                bool isFree = named is null || (i >= s_nearbyCount && !named.IsCached);
                if (isFree && Interlocked.CompareExchange(ref slots[index], guard.Block, named) == named)
                {
                    t_start = index - Distance;
                    guard.Block.Slot = index;
                    guard.Block.EnterCache(guard, flag);
                    return true;
                }
            }
        }
        catch (OutOfMemoryException)
        {
            // The first use of a thread-static in a thread needs managed memory.
        }

        return false;
    }

    /// <summary>Prepares the cache after a rent found no block: makes the slots, and spreads threads over them.</summary>
    public void Prepare()
    {
        if (t_start == 0)
        {
            t_start = Interlocked.Add(ref s_lastStart, Distance);
        }

        if (_slots.Length == 0)
        {
            Interlocked.CompareExchange(ref _slots, new BlockRecord?[(Capacity + 1) * Distance], []);
        }
    }

    // The exclusive or divides the slots into small groups. Threads that begin in one group look at the same slots, and at no others.
    [MethodImpl(MethodImplOptions.NoInlining)]
    private BlockGuard? TryTakeNearby(int first, int count)
    {
        BlockRecord?[] slots = _slots;
        int start = t_start & s_mask;
        for (int i = first; i < s_nearbyCount && slots.Length != 0; i++)
        {
            int other = start ^ (i * Distance);
            BlockRecord? block = Volatile.Read(ref slots[other + Distance]);
            if ((count == 1 ? block?.TryTakeCached() : block?.TryTakeCachedRun(count)) is BlockGuard taken)
            {
                t_start = other;
                return taken;
            }
        }

        return null;
    }
}
