using System.Diagnostics;
using System.Runtime.CompilerServices;
using Allocator.Budgeting;
using Allocator.Lifetime;

namespace Allocator.Pooling;

/// <summary>Guards a block of the pool, or a run of blocks that begins with it. Made once for each block, and kept with it.</summary>
[DebuggerDisplay("Block {Index}, run of {RunLength}: {DebuggerText,nq}")]
internal sealed class BlockGuard : FinalizableGuard
{
    private readonly UniformUnmanagedMemoryPool _pool;

    // Guards the block from now on.
    private BlockGuard? _successor;

    public BlockGuard(UniformUnmanagedMemoryPool pool, BlockArena arena, int index, AllocatorContext context)
        : base(arena.Records[index], context) => _pool = pool;

    /// <summary>Gets what the pool knows the block by.</summary>
    public BlockRecord Block => Unsafe.As<BlockRecord>(Record);

    public BlockArena Arena => Block.Arena;

    /// <summary>Gets the block's number in its arena.</summary>
    public int Index => Block.Index;

    public int RunLength => Record.RunLength;

    public override long CapacityInBytes => (long)Record.RunLength * Arena.BlockSizeInBytes;

    // A closed pool gives back to the system what it gets.
    protected override bool ReturnsWithoutSystemCall => !_pool.IsClosed;

    /// <summary>
    /// Returns this guard, or another one for the block where this was found unreachable: together with the pool, by a collection before
    /// a finalizer of the user's rents from it. Where there is no managed memory for one, the block is free again.
    /// </summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public BlockGuard ForRenter() => IsFoundUnreachable ? SuccessorForRenter() : this;

    public void Place(nint address, int runLength)
    {
        Address = address;
        Record.RunLength = runLength;
    }

    /// <summary>Starts the rent of a block or run, dirty and unobserved: Prepare and BeginAllocation in the usual case.</summary>
    public long BeginPlain(long usedBytes)
    {
        BlockRecord record = Block;
        record.UsedBytes = usedBytes;
        record.RentedAtMilliseconds = Context.Clock.CoarseMilliseconds;
        record.Rents++;
        record.AllocationBytes = CapacityInBytes;
        return BeginWith(record, 1);
    }

    protected override void GiveBack(bool ofLease)
    {
        if (!IsPlain || Context.ClearOnReturn || (!ofLease && IsFoundUnreachable))
        {
            base.GiveBack(ofLease);
            return;
        }

        BudgetPermit permit = Account is null || MayKeepPermit ? default : TakePermit();
        BlockRecord block = Block;
        block.Arena.MarkDirty(block.Index, block.RunLength);
        _pool.Return(this, ofGroup: false);
        permit.Return();
    }

    // In the cache, where the next rent finds it admitted. Not of a reservation, whose part of the budget is its own.
    private bool MayKeepPermit => Account == Context.Budget && Context.Budget.LetsIdleKeep && RunLength == 1;

    protected override void MakeSuccessor()
    {
        if (_successor is null)
        {
            BlockGuard successor = new(_pool, Arena, Index, Context);
            successor.Place(Address, RunLength);
            _successor = successor;
        }
    }

    protected override void ReturnMemory(bool ofGroup) => _pool.Return(_successor ?? this, ofGroup);

    protected override void ClearUsed(bool evenIfZeroed) => Arena.ClearRun(Index, Record.UsedBytes, evenIfZeroed);

    protected override void CleanUp()
    {
        if (Context.ClearOnReturn)
        {
            // What was known to be zero around the renter's part still is: no renter could write there.
            ClearUsed(evenIfZeroed: true);
        }
        else
        {
            Arena.MarkDirty(Index, Record.RunLength);
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private BlockGuard SuccessorForRenter()
    {
        TakePermit().Return();
        try
        {
            Replace();
            return _successor!;
        }
        catch
        {
            // The pool may have been closed meanwhile: then this ends it.
            _pool.Return(this, ofGroup: true);
            throw;
        }
    }
}
