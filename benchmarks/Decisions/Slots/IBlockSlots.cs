using Allocator.Pooling;

namespace Decisions.Slots;

/// <summary>The few blocks that a rent looks at first, in front of a pool's free maps. Implemented by structures, so that each kind gets code of its own.</summary>
internal interface IBlockSlots
{
    /// <summary>Gets what they are called in tables.</summary>
    static abstract string Name { get; }

    /// <summary>Takes a block, or gives null where there is none.</summary>
    BlockGuard? TryTake();

    /// <summary>Puts a block. False where there is no room.</summary>
    bool TryPut(BlockGuard block);
}
