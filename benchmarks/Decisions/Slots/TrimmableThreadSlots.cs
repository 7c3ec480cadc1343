using System;
using System.Threading;
using Allocator.Pooling;

namespace Decisions.Slots;

/// <summary>The same with the interlocked operations that would let a trimmer take blocks of another thread.</summary>
internal readonly struct TrimmableThreadSlots : IBlockSlots
{
    private const int Count = 4;

    [ThreadStatic]
#pragma warning disable IDE1006 // A naming rule knows one prefix for statics, s_.
    private static BlockGuard?[]? t_slots;
#pragma warning restore IDE1006

    /// <inheritdoc/>
    public static string Name => "per thread (interlocked)";

    /// <inheritdoc/>
    public BlockGuard? TryTake()
    {
        BlockGuard?[]? slots = t_slots;
        if (slots is not null)
        {
            for (int i = 0; i < slots.Length; i++)
            {
                if (Volatile.Read(ref slots[i]) is not null && Interlocked.Exchange(ref slots[i], null) is BlockGuard block)
                {
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
            if (Volatile.Read(ref slots[i]) is null && Interlocked.CompareExchange(ref slots[i], block, null) is null)
            {
                return true;
            }
        }

        return false;
    }
}
