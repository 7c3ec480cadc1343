using Allocator.Pooling;

namespace Decisions.Slots;

/// <summary>
/// The library's pool with other slots in front of its free maps. Its own cache stays empty: what comes back goes into these, or into the map.
/// A rent is a block taken; owners, leases and states are the same for all slots, and left out.
/// </summary>
/// <typeparam name="TSlots">The kind of slots.</typeparam>
internal sealed class SlottedPool<TSlots> : BlockPool
    where TSlots : struct, IBlockSlots
{
    private readonly TSlots _slots = new();

    /// <summary>Makes a pool of <paramref name="blocks"/> blocks.</summary>
    public SlottedPool(int blocks)
        : base(blocks)
    {
    }

    /// <inheritdoc/>
    public override string Name => TSlots.Name;

    /// <inheritdoc/>
    public override BlockGuard Rent() => _slots.TryTake()?.ForRenter() ?? RentBehindSlots();

    /// <inheritdoc/>
    public override void Return(BlockGuard block)
    {
        if (!_slots.TryPut(block))
        {
            block.Arena.Return(block);
        }
    }

    /// <inheritdoc/>
    public override void RentAndReturn(int count)
    {
        for (int i = 0; i < count; i++)
        {
            Return(Rent());
        }
    }

    /// <inheritdoc/>
    public override void RentAndReturnFour(int count)
    {
        for (int i = 0; i < count; i += 4)
        {
            BlockGuard first = Rent();
            BlockGuard second = Rent();
            BlockGuard third = Rent();
            BlockGuard fourth = Rent();
            Return(first);
            Return(second);
            Return(third);
            Return(fourth);
        }
    }

    /// <inheritdoc/>
    public override void EndThread()
    {
        while (_slots.TryTake() is BlockGuard block)
        {
            block.Arena.Return(block);
        }
    }
}
