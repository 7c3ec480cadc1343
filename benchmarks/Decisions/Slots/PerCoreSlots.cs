using System;
using System.Threading;
using Allocator.Pooling;

namespace Decisions.Slots;

/// <summary>Four slots for each processor core, one interlocked exchange to take and one to put: what the library had first.</summary>
internal readonly struct PerCoreSlots : IBlockSlots
{
    private const int SlotsPerCore = 4;

    // In references: 128 bytes, two cache lines, between the slots of one core and those of the next.
    private const int Stride = 16;

    private readonly BlockGuard?[] _slots;
    private readonly int _coreMask;

    /// <summary>Makes slots for this machine's cores.</summary>
    public PerCoreSlots()
    {
        int cores = 1;
        while (cores < Environment.ProcessorCount)
        {
            cores *= 2;
        }

        _slots = new BlockGuard?[cores * Stride];
        _coreMask = cores - 1;
    }

    /// <inheritdoc/>
    public static string Name => "per core";

    /// <inheritdoc/>
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

    /// <inheritdoc/>
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

    private int FirstSlotOfThisCore() => (Thread.GetCurrentProcessorId() & _coreMask) * Stride;
}
