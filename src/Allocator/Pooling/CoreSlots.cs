using System.Threading;

namespace Allocator.Pooling;

/// <summary>
/// A few blocks for each processor core, in front of the free maps: renting and returning there is one interlocked exchange on memory that no other core uses.
/// Whoever trims uses the same exchange, so a block is in one hand only.
/// </summary>
internal sealed class CoreSlots
{
    // With four blocks held at once by a thread, fewer slots did not scale to two threads (see docs/design.md).
    private const int SlotsPerCore = 4;

    // In references: 128 bytes, two cache lines, between the slots of one core and those of the next.
    private const int Stride = 16;

    private readonly BlockGuard?[] _slots;
    private readonly int _coreMask;

    public CoreSlots(int processorCount)
    {
        int cores = 1;
        while (cores < processorCount)
        {
            cores *= 2;
        }

        _slots = new BlockGuard?[cores * Stride];
        _coreMask = cores - 1;
    }

    private int SlotCount => (_coreMask + 1) * SlotsPerCore;

    /// <summary>Takes a block from the slots of the current core, or gives null.</summary>
    public BlockGuard? TryTake()
    {
        BlockGuard?[] slots = _slots;
        int first = FirstSlotOfThisCore();
        for (int i = first; i < first + SlotsPerCore; i++)
        {
            if (Volatile.Read(ref slots[i]) is not null && Interlocked.Exchange(ref slots[i], null) is BlockGuard block)
            {
                return block;
            }
        }

        return null;
    }

    /// <summary>Puts a block into the slots of the current core. False where they are full.</summary>
    public bool TryPut(BlockGuard block)
    {
        BlockGuard?[] slots = _slots;
        int first = FirstSlotOfThisCore();
        for (int i = first; i < first + SlotsPerCore; i++)
        {
            if (Volatile.Read(ref slots[i]) is null && Interlocked.CompareExchange(ref slots[i], block, null) is null)
            {
                return true;
            }
        }

        return false;
    }

    /// <summary>Takes the next block at or behind a position over all cores' slots, or gives null at the end.</summary>
    public BlockGuard? TryTakeNext(ref int position)
    {
        BlockGuard?[] slots = _slots;
        while (position < SlotCount)
        {
            int i = SlotAt(position++);
            if (Volatile.Read(ref slots[i]) is not null && Interlocked.Exchange(ref slots[i], null) is BlockGuard block)
            {
                return block;
            }
        }

        return null;
    }

    /// <summary>As <see cref="TryTakeNext"/>, leaving blocks in place that have been in use since the last look.</summary>
    public BlockGuard? TryTakeNextStale(ref int position)
    {
        BlockGuard?[] slots = _slots;
        while (position < SlotCount)
        {
            int i = SlotAt(position++);
            if (Volatile.Read(ref slots[i]) is BlockGuard block && block.Arena.Idleness.IsStale(block.Index)
                && Interlocked.CompareExchange(ref slots[i], null, block) == block)
            {
                return block;
            }
        }

        return null;
    }

    private static int SlotAt(int position) => position / SlotsPerCore * Stride + position % SlotsPerCore;

    private int FirstSlotOfThisCore() => (Thread.GetCurrentProcessorId() & _coreMask) * Stride;
}
