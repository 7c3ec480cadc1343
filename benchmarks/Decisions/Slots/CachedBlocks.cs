using Allocator.Pooling;

namespace Decisions.Slots;

/// <summary>The library's own cache: two one-block slots for each core, which every thread reaches.</summary>
internal readonly struct CachedBlocks : IBlockSlots
{
    private readonly BlockCache _cache = new();

    /// <summary>Makes an empty cache.</summary>
    public CachedBlocks()
    {
    }

    /// <inheritdoc/>
    public static string Name => "cache (the library)";

    /// <inheritdoc/>
    public BlockGuard? TryTake()
    {
        if (_cache.TryTake() is BlockGuard block)
        {
            return block;
        }

        _cache.Prepare();
        return null;
    }

    /// <inheritdoc/>
    public bool TryPut(BlockGuard block) => _cache.TryPut(block);
}
