using System;
using System.Diagnostics;
using System.Numerics;
using System.Runtime.CompilerServices;
using System.Threading;

namespace Allocator.Pooling;

/// <summary>
/// A few idle blocks in front of a pool's free maps, one in each slot: taken by an exchange, put by a compare-exchange. A thread
/// begins at the slot where it last succeeded.
/// No slot belongs to a thread: each thread reaches each block, and a thread that ends leaves nothing behind.
/// </summary>
internal sealed class BlockCache
{
    // In references: slots are 128 bytes apart (two cache lines, which processors fetch in pairs), and the first is as far from the
    // array's length, which each access reads.
    private const int Distance = 16;

    // How many slots a rent or a return looks at before the free maps. A thread that holds four blocks at a time finds all of them here.
    private const int Nearby = 4;

    // Two for each core, rounded down to a power of two: more blocks than running threads use lie where groups and runs find them.
    private static readonly int s_slotCount = 2 << (63 - BitOperations.LeadingZeroCount((ulong)Environment.ProcessorCount));
    private static readonly int s_nearbyCount = Math.Min(Nearby, s_slotCount);
    private static readonly int s_mask = (s_slotCount - 1) * Distance;
    private static int s_lastStart;

    // Of all pools: what is remembered for each would have to be looked up. 0 until a rent finds no block.
    [ThreadStatic]
#pragma warning disable IDE1006 // A naming rule knows one prefix for statics, s_.
    private static int t_start;
#pragma warning restore IDE1006

    // Empty until a rent needs them: an allocator for small buffers pays nothing, and a return allocates nothing.
    private BlockGuard?[] _slots = [];

    public static int Capacity => s_slotCount;

    /// <summary>Takes a block from one of the slots near the one that the thread remembers, or returns null.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public BlockGuard? TryTake()
    {
        BlockGuard?[] slots = _slots;
        int index = (t_start & s_mask) + Distance;
        return (uint)index < (uint)slots.Length && Interlocked.Exchange(ref slots[index], null) is BlockGuard block
            ? block
            : TryTakeNearby();
    }

    /// <summary>
    /// Puts a block into one of the slots near the one that the thread remembers. False where these are full, or there are none.
    /// </summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public bool TryPut(BlockGuard block)
    {
        BlockGuard?[] slots = _slots;
        int index = (t_start & s_mask) + Distance;
        return ((uint)index < (uint)slots.Length && Volatile.Read(ref slots[index]) is null
            && Interlocked.CompareExchange(ref slots[index], block, null) is null) || TryPutNearby(block);
    }

    /// <summary>Takes a block from any slot, or returns null.</summary>
    public BlockGuard? TryTakeAny()
    {
        BlockGuard?[] slots = _slots;
        for (int index = Distance; index < slots.Length; index += Distance)
        {
            if (Volatile.Read(ref slots[index]) is not null && Interlocked.Exchange(ref slots[index], null) is BlockGuard block)
            {
                return block;
            }
        }

        return null;
    }

    /// <summary>
    /// Prepares the return of a block for which a rent found none: makes the slots, and has threads begin at different ones.
    /// </summary>
    public void Prepare()
    {
        if (t_start == 0)
        {
            t_start = Interlocked.Add(ref s_lastStart, Distance);
        }

        if (_slots.Length == 0)
        {
            Interlocked.CompareExchange(ref _slots, new BlockGuard?[(s_slotCount + 1) * Distance], []);
        }
    }

    /// <summary>
    /// Puts the blocks of all slots, or those that are wanted, into their arenas; false where there was none. A block that another thread
    /// puts meanwhile may be missed, as if it had come just after.
    /// </summary>
    public bool Drain(Func<BlockGuard, bool>? isWanted = null)
    {
        bool any = false;
        BlockGuard?[] slots = _slots;
        for (int index = Distance; index < slots.Length; index += Distance)
        {
            if (Volatile.Read(ref slots[index]) is BlockGuard block && (isWanted is null || isWanted(block))
                && Interlocked.CompareExchange(ref slots[index], null, block) == block)
            {
                block.Arena.Return(block);
                any = true;
            }
        }

        return any;
    }

    // By exclusive or: threads that begin at neighbouring slots share the same few, and no two groups overlap.
    [MethodImpl(MethodImplOptions.NoInlining)]
    private BlockGuard? TryTakeNearby()
    {
        BlockGuard?[] slots = _slots;
        int start = t_start & s_mask;
        for (int i = 1; i < s_nearbyCount && slots.Length != 0; i++)
        {
            int other = start ^ (i * Distance);
            ref BlockGuard? slot = ref slots[other + Distance];
            if (Volatile.Read(ref slot) is not null && Interlocked.Exchange(ref slot, null) is BlockGuard block)
            {
                t_start = other;
                return block;
            }
        }

        return null;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private bool TryPutNearby(BlockGuard block)
    {
        Debug.Assert(block.RunLength == 1, "Slots are for single blocks.");
        BlockGuard?[] slots = _slots;
        int start = t_start & s_mask;
        for (int i = 1; i < s_nearbyCount && slots.Length != 0; i++)
        {
            int other = start ^ (i * Distance);
            ref BlockGuard? slot = ref slots[other + Distance];
            if (Volatile.Read(ref slot) is null && Interlocked.CompareExchange(ref slot, block, null) is null)
            {
                t_start = other;
                return true;
            }
        }

        return false;
    }
}
