namespace Allocator.Pooling;

/// <summary>The memory behind one arena's blocks, as its kind of native memory can give it. Thread-safe for different blocks; one block is its holder's.</summary>
internal abstract class BlockStorage
{
    /// <summary>Gets whether blocks with adjacent numbers are adjacent in memory.</summary>
    public abstract bool IsContiguous { get; }

    /// <summary>Puts memory behind a block. pre: it has none.</summary>
    /// <returns>The block's address, or 0 where the system refuses.</returns>
    public abstract nint TryCommit(int index, out bool zeroed);

    /// <summary>Gives a block's memory back. pre: it has some.</summary>
    /// <returns>False where the system refuses; the block then keeps it.</returns>
    public abstract bool TryPurge(int index, nint address);

    /// <summary>Makes the pages of a block resident. pre: it has memory.</summary>
    public abstract void Populate(nint address);

    /// <summary>Gives everything back that belongs to no single block. pre: no block is out.</summary>
    public abstract void Release();
}
