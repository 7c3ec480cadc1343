using Allocator.Budgeting;
using Allocator.Diagnostics;
using Allocator.Lifetime;
using Allocator.Native;

namespace Allocator.Pooling;

/// <summary>
/// Keeps unmanaged blocks of one size between uses. Thread-safe. A rent from the cache takes one interlocked operation. Behind the cache
/// are arenas of up to 64 blocks, each with a lock-free map. No thread waits while another one calls the system.
/// </summary>
[DebuggerDisplay("{Arenas.Length} arenas of up to {MaximumBlocks} blocks of {BlockSizeInBytes} bytes, closed: {IsClosed}")]
internal sealed class UniformUnmanagedMemoryPool : IBackgroundWork
{
    private readonly PoolGeometry _geometry;
    private readonly NativeMemorySource _source;
    private readonly BlockCache _cache = new();
    private readonly BlockCache _runs = new();
    private readonly ArenaSet _arenas;
    private bool _closed;
    private BackgroundState _work;

    public UniformUnmanagedMemoryPool(
        PoolGeometry geometry, NativeMemorySource source, AllocatorContext context, BlockHooks? hooks = null, bool keepsBlocks = false)
    {
        _geometry = geometry;
        _source = source;
        Hooks = hooks;
        KeepsBlocks = keepsBlocks;
        _arenas = new ArenaSet(this, geometry, source, context);
        BlockAlignmentInBytes = source is VirtualMemorySource
            ? Math.Min(NativeMemorySource.MaximumAlignment, BlockSizeInBytes & -BlockSizeInBytes)
            : NativeMemorySource.MinimumAlignment;
    }

    public int BlockSizeInBytes => _geometry.BlockSizeInBytes;

    public int BlockAlignmentInBytes { get; }

    /// <summary>Gets whether the pool has been closed: returned blocks are then released to the system.</summary>
    public bool IsClosed => Volatile.Read(ref _closed);

    public BlockHooks? Hooks { get; }

    /// <summary>Gets whether blocks keep their memory until the pool is closed.</summary>
    public bool KeepsBlocks { get; }

    public int MaximumBlocks => _geometry.MaximumBlocks;

    public IIdleMemory Idle => _arenas;

    ref BackgroundState IBackgroundWork.State => ref _work;

    /// <summary>Gets the current arenas. The array is never changed, only replaced by a longer one.</summary>
    public BlockArena[] Arenas => _arenas.All;

    /// <summary>Rents a block from the cache near the current thread. Null if there is none.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public BlockGuard? TryRentCached() => _cache.TryTake()?.ForRenter();

    /// <summary>
    /// Rents adjacent idle blocks, for a run or a group, from the cache near the current thread or from the maps. Null if there are none.
    /// </summary>
    public BlockGuard? TryRentReady(int count, bool ofGroup) =>
        _runs.TryTakeRun(count) is BlockGuard run ? run.ForRenter() : TryRentReadySlow(count, ofGroup);

    /// <summary>
    /// Takes one block, or several adjacent ones as one. The rent has not begun. For each block of a run that had no memory, an idle block
    /// elsewhere loses its own: otherwise the pool would hold more than is used.
    /// </summary>
    public BlockGuard? TryRentRun(int count, ref Refusals refusals, out PoolOutcome outcome)
    {
        outcome = PoolOutcome.Hit;
        if (count == 1)
        {
            return TryRentCached() ?? TryRentSlow(ref refusals, out outcome);
        }

        if (TryRentReady(count, ofGroup: false) is BlockGuard ready)
        {
            return ready;
        }

        outcome = PoolOutcome.Full;
        if (count > Math.Min(BlockArena.MaximumBlocks, MaximumBlocks) || _source is not VirtualMemorySource)
        {
            return null;
        }

        _runs.Prepare();
        BlockGuard? run;
        BlockArena[] seen;
        int coldBlocks = 0;
        do
        {
            seen = Arenas;
            run = _arenas.TryTakeRun(count, ref refusals, ref outcome, ref coldBlocks);
        }
        while (run is null && outcome == PoolOutcome.Full && _arenas.TryGrow(seen, count, ref outcome));

        if (run is not null && coldBlocks > 0)
        {
            _arenas.Exchange(coldBlocks);
        }

        ReleaseIfClosed();
        return run;
    }

    /// <summary>Rents as many blocks as are free, up to <paramref name="count"/>: adjacent ones as one run.</summary>
    public PoolOutcome TryRentMany(int count, ref Allocation allocation, ref Refusals refusals, out int rented)
    {
        PoolOutcome result = PoolOutcome.Hit;
        BlockArena[] seen;
        rented = 0;
        _runs.Prepare();
        do
        {
            seen = Arenas;
            rented += TakeIdle(count - rented, ref allocation, ref refusals, ref result);
            rented += _arenas.TakeMany(count - rented, resident: false, ref allocation, ref refusals, ref result);
        }
        while (rented < count && result < PoolOutcome.Full && _arenas.TryGrow(seen, 1, ref result));

        if (rented < count)
        {
            // There is no new memory; other threads may have returned some meanwhile.
            PoolOutcome last = PoolOutcome.Hit;
            rented += TakeIdle(count - rented, ref allocation, ref refusals, ref last);
            result = rented == count && result >= PoolOutcome.Full ? PoolOutcome.Cold : result;
        }

        ReleaseIfClosed();
        return rented < count && result < PoolOutcome.Full ? PoolOutcome.Full : result;
    }

    /// <summary>
    /// Takes back a block or run after its rent, or if its rent never began. Blocks that were rented with others stay out of the cache, so
    /// that groups and runs can find them. So do blocks that were not rented.
    /// </summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void Return(BlockGuard guard, bool bypassesCache)
    {
        if (bypassesCache || guard.RunLength != 1 || !TryCache(_cache, guard, RentState.Cached))
        {
            ReturnSlow(guard, mayCache: !bypassesCache && guard.RunLength != 1);
        }

        ReleaseIfClosed();
    }

    /// <summary>Commits blocks and makes their pages resident until this many bytes are idle, or the pool is full.</summary>
    /// <returns>False if the system refused.</returns>
    public bool TryPrewarm(long bytes, ref Refusals refusals)
    {
        PoolOutcome outcome = PoolOutcome.Full;
        BlockArena[] seen;
        bytes -= ReadUsage().RetainedBytes;
        do
        {
            seen = Arenas;
            while (bytes > 0 && _arenas.TryTake(resident: false, ref refusals, ref outcome) is BlockGuard block)
            {
                // The block stays free. Because it has memory now, this loop does not take it again.
                outcome = block.Arena.TryPrewarm(block, ref refusals) ? PoolOutcome.Full : PoolOutcome.Refused;
                bytes -= BlockSizeInBytes;
                Return(block, bypassesCache: true);
            }
        }
        while (bytes > 0 && outcome == PoolOutcome.Full && !IsClosed && _arenas.TryGrow(seen, 1, ref outcome));
        ReleaseIfClosed();
        return outcome != PoolOutcome.Refused;
    }

    /// <summary>Releases idle blocks now, and outstanding ones as soon as they are returned, addresses included.</summary>
    public void Close()
    {
        Volatile.Write(ref _closed, true);

        // A closing thread writes _closed and then reads the states of blocks; a returning one writes a block's state and then reads
        // _closed. With this barrier at least one of them sees the other's write. Without an arena there are no blocks.
        Interlocked.MemoryBarrier();
        if (Arenas.Length != 0)
        {
            ProcessBarrier.Flush();
        }

        ReleaseIfClosed();
    }

    /// <summary>
    /// Finishes what <see cref="Close"/> could not do because the caller held blocks. Called when the last one is back. Either the caller
    /// sees here that the pool is closed, or the closing thread sees the blocks. Never throws, because a return calls it last.
    /// </summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void ReleaseIfClosed()
    {
        if (IsClosed)
        {
            UserCallbacks.ThreadFor(callsUser: Hooks is not null).Run(this);
        }
    }

    public bool DrainCache(Func<BlockRecord, bool>? isWanted = null) => _arenas.DrainCached(isWanted);

    void IBackgroundWork.DoWork() => _arenas.ReleaseAll();

    public PoolUsage ReadUsage() => PoolUsage.Read(Arenas);

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static bool TryCache(BlockCache cache, BlockGuard guard, long flag) =>
        cache.TryReturn(guard, flag) || cache.TryReturnSlow(guard, flag);

    [MethodImpl(MethodImplOptions.NoInlining)]
    private void ReturnSlow(BlockGuard guard, bool mayCache)
    {
        if (guard.RunLength > 1)
        {
            guard.Arena.MarkUsed(guard.Blocks);
        }

        if (!mayCache || !TryCache(_runs, guard, RentState.CachedRun))
        {
            guard.Arena.Return(guard);
        }
    }

    // Runs of another length, and those far away, are idle memory too. Single blocks come last: they are in use all the time.
    [MethodImpl(MethodImplOptions.NoInlining)]
    private BlockGuard? TryRentReadySlow(int count, bool ofGroup) =>
        _arenas.TryTakeReady(count, ofGroup)
        ?? (DrainCache(IsRun) ? _arenas.TryTakeReady(count, ofGroup) : null)
        ?? (DrainCache() ? _arenas.TryTakeReady(count, ofGroup) : null);

    private static bool IsRun(BlockRecord block) => (Volatile.Read(ref block.State) & RentState.CachedRun) != 0;

    private int TakeIdle(int count, ref Allocation allocation, ref Refusals refusals, ref PoolOutcome result)
    {
        int taken = _arenas.TakeMany(count, resident: true, ref allocation, ref refusals, ref result);
        if (taken < count)
        {
            DrainCache();
            taken += _arenas.TakeMany(count - taken, resident: true, ref allocation, ref refusals, ref result);
        }

        return taken;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private BlockGuard? TryRentSlow(ref Refusals refusals, out PoolOutcome outcome)
    {
        BlockGuard? block;
        BlockArena[] seen;
        outcome = PoolOutcome.Full;
        _cache.Prepare();
        do
        {
            seen = Arenas;
            block = TryRentIdle(ref refusals, ref outcome) ?? _arenas.TryTake(resident: false, ref refusals, ref outcome);
        }
        while (block is null && outcome == PoolOutcome.Full && _arenas.TryGrow(seen, 1, ref outcome));

        if (block is null)
        {
            // There is no new memory; other threads may have returned some meanwhile.
            PoolOutcome last = PoolOutcome.Full;
            block = TryRentIdle(ref refusals, ref last);
            outcome = block is null ? outcome : last;
            ReleaseIfClosed();
        }

        return block;
    }

    // Takes any idle block: one far away costs nanoseconds, one without memory a page fault for each page. It looks at the maps twice: a
    // block may move from the cache into a map between the looks, and runs of the cache are put there last.
    private BlockGuard? TryRentIdle(ref Refusals refusals, ref PoolOutcome outcome)
    {
        BlockGuard? block = _arenas.TryTake(resident: true, ref refusals, ref outcome) ?? _arenas.TryTakeCached(ref outcome);
        if (block is null && outcome == PoolOutcome.Full)
        {
            DrainCache(IsRun);
            block = _arenas.TryTake(resident: true, ref refusals, ref outcome);
        }

        return block;
    }
}
