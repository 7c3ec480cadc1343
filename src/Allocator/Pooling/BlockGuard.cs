using Allocator.Lifetime;

namespace Allocator.Pooling;

/// <summary>Guards a block of the pool, or a run of blocks that begins with it. Made once for each block, and kept with it.</summary>
[DebuggerDisplay("Block {Index}, run of {RunLength}: {DebuggerText,nq}")]
internal sealed class BlockGuard(UniformUnmanagedMemoryPool pool, BlockArena arena, int index, AllocatorContext context)
    : FinalizableGuard(arena.Records[index], context)
{
    // The guard that has replaced this one, because a collection found this one unreachable.
    private BlockGuard? _successor;

    // How many bytes of a run were found to be granted. They stay granted until the run is in the map again.
    private long _grantedBytes;

    public BlockRecord Block => Unsafe.As<BlockRecord>(Record);

    public BlockArena Arena => Block.Arena;

    public int Index => Block.Index;

    public int RunLength => Record.RunLength;

    /// <summary>Gets the bits of its blocks in the arena's maps.</summary>
    public ulong Blocks { get; private set; }

    public override long CapacityInBytes => (long)Record.RunLength * Arena.BlockSizeInBytes;

    /// <summary>Returns whether a renter may reach this many bytes of an idle block or run at once.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public bool IsGranted(long usedBytes) =>
        usedBytes <= (RunLength == 1 ? Block.GrantedBytes : _grantedBytes) || (RunLength != 1 && IsRunGranted(usedBytes));

    public override long UngrantedBytes() => Arena.UngrantedBytes(Index, RunLength, Record.UsedBytes);

    public override bool TryPopulate() => Arena.TryPopulate(Index, RunLength, Record.UsedBytes);

    protected override bool IsReplaced => Volatile.Read(ref _successor) is not null;

    /// <summary>
    /// Returns this guard, or a new one if a collection found it unreachable. That happens if the whole pool became unreachable, and a
    /// user's finalizer rents from it afterwards. If there is no managed memory for a new guard, the block is free again.
    /// </summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public BlockGuard ForRenter() => IsFoundUnreachable ? SuccessorForRenter() : this;

    public void Place(nint address, int runLength)
    {
        Address = address;
        Blocks = BlockBits.Mask(runLength) << Index;
        _grantedBytes = 0;

        // Another thread may be reading it; that thread then fails to take the run.
        Volatile.Write(ref Record.RunLength, runLength);
    }

    /// <summary>Starts the rent of a block of the cache, or of a run, without a trace.</summary>
    public long BeginPlain(long usedBytes)
    {
        if (RunLength > 1)
        {
            // A block of the cache has been rented before, and is known to be dirty.
            MarkDirty();
        }

        Record.NoteRent(usedBytes, CapacityInBytes, Context.Clock.CoarseMilliseconds);
        return Begin();
    }

    protected override void Replace()
    {
        if (_successor is null)
        {
            BlockGuard successor = new(pool, Arena, Index, Context);
            successor.Place(Address, RunLength);
            Volatile.Write(ref _successor, successor);
        }
    }

    protected override void Return(bool bypassesCache) => pool.Return(_successor ?? this, bypassesCache);

    protected override void ClearUsed(bool evenIfZeroed) => Arena.ClearRun(Index, Record.UsedBytes, evenIfZeroed);

    // With ClearOnReturn the block stays known to be zero: the renter's part is cleared, and a renter cannot write to the rest.
    protected override void MarkDirty()
    {
        if (!Context.ClearOnReturn)
        {
            Arena.MarkDirty(Blocks);
        }
    }

    private bool IsRunGranted(long usedBytes)
    {
        _grantedBytes = Arena.UngrantedBytes(Index, RunLength, usedBytes) == 0 ? usedBytes : 0;
        return _grantedBytes == usedBytes;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private BlockGuard SuccessorForRenter()
    {
        try
        {
            Replace();
            return _successor!;
        }
        catch
        {
            // If the pool was closed meanwhile, this releases the block.
            pool.Return(this, bypassesCache: true);
            throw;
        }
    }
}
