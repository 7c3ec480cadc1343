using System;
using Allocator.Pooling;

namespace Decisions.Slots;

/// <summary>
/// As many slots for each thread, which no other thread can reach: no interlocked operation is needed, and no trimmer can take anything.
/// One thread-static field serves one pool, which is the fastest that a thread's own memory can be had.
/// </summary>
internal readonly struct PerThreadSlots : IBlockSlots
{
    private const int Count = 4;

    [ThreadStatic]
#pragma warning disable IDE1006 // A naming rule knows one prefix for statics, s_.
    private static BlockGuard?[]? t_slots;
#pragma warning restore IDE1006

    /// <inheritdoc/>
    public static string Name => "per thread";

    /// <inheritdoc/>
    public BlockGuard? TryTake()
    {
        BlockGuard?[]? slots = t_slots;
        if (slots is not null)
        {
            for (int i = 0; i < slots.Length; i++)
            {
                if (slots[i] is BlockGuard block)
                {
                    slots[i] = null;
                    return block;
                }
            }
        }

        return null;
    }

    /// <inheritdoc/>
    public bool TryPut(BlockGuard block)
    {
        BlockGuard?[] slots = t_slots ??= new BlockGuard?[Count];
        for (int i = 0; i < slots.Length; i++)
        {
            if (slots[i] is null)
            {
                slots[i] = block;
                return true;
            }
        }

        return false;
    }
}
