using Allocator.Lifetime;

namespace Allocator.Pooling;

/// <summary>Guards a block of the pool, or a run of blocks that begins with it. Made once for each block, and kept with it.</summary>
internal sealed class BlockGuard : NativeGuard
{
    private readonly UniformUnmanagedMemoryPool _pool;

    public BlockGuard(UniformUnmanagedMemoryPool pool, BlockArena arena, int index, LifetimePolicy policy)
        : base(arena.Records, index, policy)
    {
        _pool = pool;
        Arena = arena;
        Index = index;
    }

    public BlockArena Arena { get; }

    /// <summary>Gets the block's number in its arena.</summary>
    public int Index { get; }

    public int RunLength => Record.RunLength;

    public override long CapacityInBytes => (long)Record.RunLength * Arena.BlockSizeInBytes;

    // A closed pool gives back to the system what it gets.
    protected override bool ReturnsWithoutSystemCall => !_pool.IsClosed;

    /// <summary>Notes where the block is and how many go out with it. pre: held exclusively.</summary>
    public void Place(nint address, int runLength)
    {
        Address = address;
        Record.RunLength = runLength;
    }

    protected override void ReturnMemory(bool ofGroup) => _pool.Return(this, ofGroup);

    protected override void ClearUsed(bool evenIfZeroed) => Arena.ClearRun(Index, Record.UsedBytes, evenIfZeroed);

    protected override void CleanUp()
    {
        if (Policy.ClearOnReturn)
        {
            // What was known to be zero around the renter's part still is: nobody could write there.
            ClearUsed(evenIfZeroed: true);
        }
        else
        {
            Arena.MarkDirty(Index, Record.RunLength);
        }
    }
}
