using Allocator.Pooling;

namespace Decisions.Slots;

/// <summary>The library's own slots: for each thread, without interlocked operations, and in reach of others behind a fence on all processors.</summary>
internal readonly struct RevocableThreadSlots : IBlockSlots
{
    private readonly ThreadSlotSet _slots = new();

    /// <summary>Makes slots that no thread has yet.</summary>
    public RevocableThreadSlots()
    {
    }

    /// <inheritdoc/>
    public static string Name => "per thread (revocable)";

    /// <inheritdoc/>
    public BlockGuard? TryTake()
    {
        if (_slots.TryTake() is BlockGuard block)
        {
            return block;
        }

        _slots.EnsureSlots();
        return null;
    }

    /// <inheritdoc/>
    public bool TryPut(BlockGuard block) => _slots.TryPut(block);
}
