using System;
using Allocator.Pooling;

namespace Decisions.Slots;

/// <summary>The library's own slots.</summary>
internal readonly struct PerCoreSlots : IBlockSlots
{
    private readonly CoreSlots _slots = new(Environment.ProcessorCount);

    /// <summary>Makes slots for this machine's cores.</summary>
    public PerCoreSlots()
    {
    }

    /// <inheritdoc/>
    public static string Name => "per core";

    /// <inheritdoc/>
    public BlockGuard? TryTake() => _slots.TryTake();

    /// <inheritdoc/>
    public bool TryPut(BlockGuard block) => _slots.TryPut(block);
}
