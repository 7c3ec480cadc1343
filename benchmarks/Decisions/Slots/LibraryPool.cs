using Allocator.Pooling;

namespace Decisions.Slots;

/// <summary>The library's pool as it is: a rent looks into the whole cache before it asks for new memory.</summary>
internal sealed class LibraryPool : BlockPool
{
    /// <summary>Makes a pool of <paramref name="blocks"/> blocks.</summary>
    public LibraryPool(int blocks)
        : base(blocks)
    {
    }

    /// <inheritdoc/>
    public override string Name => "cache (the library)";

    /// <inheritdoc/>
    public override BlockGuard Rent() => RentBehindSlots();

    /// <inheritdoc/>
    public override void Return(BlockGuard block) => Pool.Return(block, ofGroup: false);

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
    }
}
