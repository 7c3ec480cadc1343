using System;
using System.Diagnostics;
using System.Runtime.CompilerServices;
using System.Threading;
using Allocator.Budgeting;
using Allocator.Lifetime;
using Allocator.Native;

namespace Allocator.Pooling;

/// <summary>
/// Keeps unmanaged blocks of one size between uses. Thread-safe. A rent or return at the cache takes one interlocked operation; behind it
/// lie arenas of up to 64 blocks with a free map each, without locks. No call to the system is made while a renter waits for it.
/// </summary>
[DebuggerDisplay("{Arenas.Length} arenas of up to {MaximumBlocks} blocks of {BlockSizeInBytes} bytes, closed: {IsClosed}")]
internal sealed partial class UniformUnmanagedMemoryPool : IBackgroundWork, IPermitKeeper
{
    private readonly PoolGeometry _geometry;
    private readonly NativeMemorySource _source;
    private readonly BlockCache _cache = new();
    private readonly ArenaSet _arenas;
    private readonly MemoryBudget _budget;
    private readonly ShortLock _drains = new();
    private bool _closed;
    private BackgroundState _work;

    public UniformUnmanagedMemoryPool(
        PoolGeometry geometry, NativeMemorySource source, AllocatorContext context, BlockHooks? hooks = null, bool keepsBlocks = false)
    {
        _geometry = geometry;
        _source = source;
        _budget = context.Budget;
        Hooks = hooks ?? BlockHooks.None;
        KeepsBlocks = keepsBlocks;
        _arenas = new ArenaSet(this, geometry, source, context);
        BlockAlignmentInBytes = source is VirtualMemorySource
            ? Math.Min(NativeMemorySource.MaximumAlignment, BlockSizeInBytes & -BlockSizeInBytes)
            : NativeMemorySource.MinimumAlignment;
        Reclaimer = new IdleBlockReclaimer(this, context.Counters);
    }

    public int BlockSizeInBytes => _geometry.BlockSizeInBytes;

    public int BlockAlignmentInBytes { get; }

    /// <summary>Gets whether the pool gives back to the system whatever comes back to it.</summary>
    public bool IsClosed => Volatile.Read(ref _closed);

    public BlockHooks Hooks { get; }

    /// <summary>Gets whether blocks keep their memory until the pool is closed.</summary>
    public bool KeepsBlocks { get; }

    public int MaximumBlocks => _geometry.MaximumBlocks;

    public IdleBlockReclaimer Reclaimer { get; }

    ref BackgroundState IBackgroundWork.State => ref _work;

    /// <summary>Gets the arenas there are. The array is never changed, only replaced by a longer one.</summary>
    public BlockArena[] Arenas => _arenas.All;

    public long KeptBytes => ReadUsage().AdmittedIdleBytes;

    /// <summary>Rents one block, its rent not begun, with the permit that it has kept; null where the outcome says why not.</summary>
    public BlockGuard? TryRent(ref Refusals refusals, out PoolOutcome outcome)
    {
        outcome = PoolOutcome.Hit;
        return TryRentCached() ?? TryRentSlow(ref refusals, out outcome);
    }

    /// <summary>Rents a block that lies in the cache near the current thread; null where there is none.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public BlockGuard? TryRentCached() => _cache.TryTake()?.ForRenter();

    /// <summary>Rents adjacent blocks of a map, with memory, where one step does: for a run, or a group, which takes the lowest.</summary>
    public BlockGuard? TryRentReady(int count, bool ofGroup)
    {
        foreach (BlockArena arena in Arenas)
        {
            BlockGuard? run = arena.TryTakeReady(count, ofGroup);
            if (run is not null || (ofGroup && arena.HasFree(resident: true)))
            {
                return run;
            }
        }

        return null;
    }

    /// <summary>
    /// Takes back a block or run, once the rent has ended, or where it never began. What is one of many stays out of the cache, in reach
    /// of groups and runs.
    /// </summary>
    public void Return(BlockGuard guard, bool ofGroup)
    {
        // Before the put: the guard may be another renter's right after. A request that began to wait meanwhile finds the block in the
        // cache, or is seen here; where another thread has taken the block, its permit is that one's concern.
        bool hasPermit = guard.Account is not null;
        BlockRecord block = guard.Block;
        bool isCached = !ofGroup && guard.RunLength == 1 && (_cache.TryPutBack(guard) || _cache.TryPut(guard));
        BlockGuard? held = !isCached ? guard : hasPermit && _budget.HasWaiters ? block.TryTakeCached() : null;
        if (held is not null)
        {
            BudgetPermit permit = held.TakePermit();
            held.Arena.Return(held);
            permit.Return();
        }

        ReleaseIfClosed();
    }

    /// <summary>Commits blocks and makes their pages resident until that many bytes lie idle, or the pool is full.</summary>
    /// <returns>False where the system refused.</returns>
    public bool TryPrewarm(long bytes, ref Refusals refusals)
    {
        PoolOutcome outcome = PoolOutcome.Cold;
        long missing = bytes - ReadUsage().RetainedBytes;
        while (missing > 0 && outcome != PoolOutcome.Refused && !IsClosed)
        {
            BlockArena[] seen = Arenas;
            outcome = _arenas.Prefault(ref refusals);
            if (outcome == PoolOutcome.Cold)
            {
                missing -= BlockSizeInBytes;
            }
            else if (outcome == PoolOutcome.Full && !_arenas.TryGrow(seen, 1, ref outcome))
            {
                break;
            }
        }

        ReleaseIfClosed();
        return outcome != PoolOutcome.Refused;
    }

    /// <summary>Gives idle blocks back now and outstanding ones as soon as they come back, addresses included.</summary>
    public void Close()
    {
        Volatile.Write(ref _closed, true);

        // Between this write and the look at the blocks, and between the write of a block's state and the look at this field: one of the
        // two sees the other. Without an arena there are no blocks, nor a rent that has one in hand.
        Interlocked.MemoryBarrier();
        if (Arenas.Length != 0)
        {
            ProcessBarrier.Flush();
        }

        ReleaseIfClosed();
    }

    /// <summary>
    /// Finishes what <see cref="Close"/> could not, because the caller had blocks in hand; called when the last is back. Either the caller
    /// sees here that the pool is closed, or the thread that closes it sees the blocks. Never throws: returns end here.
    /// </summary>
    public void ReleaseIfClosed()
    {
        if (IsClosed)
        {
            Background.Run(this);
        }
    }

    /// <summary>Puts all blocks of the cache, or the wanted ones, into the free maps, and returns their permits; false for none.</summary>
    public bool DrainCache(Func<BlockRecord, bool>? isWanted = null)
    {
        if (_budget.Idle is null)
        {
            return _arenas.DrainCached(isWanted, out _);
        }

        bool any;
        using (_drains.Enter())
        {
            // One at a time: a request that finds nothing to drain finds the room that another thread has made.
            any = _arenas.DrainCached(isWanted, out BudgetPermit kept);
            kept.Account?.GiveBack(kept.Bytes);
        }

        _budget.ServeWaiters();
        return any;
    }

    /// <summary>Has idle blocks return the permits that they have kept. Never throws.</summary>
    public void ReleasePermits()
    {
        DrainCache();
        ReleaseIfClosed();
    }

    void IBackgroundWork.DoWork() => Reclaimer.ReleaseAll();

    public PoolUsage ReadUsage() => PoolUsage.Read(Arenas);

    [MethodImpl(MethodImplOptions.NoInlining)]
    private BlockGuard? TryRentSlow(ref Refusals refusals, out PoolOutcome outcome)
    {
        BlockArena[] seen;
        outcome = PoolOutcome.Full;
        _cache.Prepare();
        do
        {
            seen = Arenas;
            BlockGuard? block = TryRentIdle(ref refusals, ref outcome)
                ?? _arenas.TryTake(resident: false, ref refusals, ref outcome);
            if (block is not null)
            {
                return block;
            }
        }
        while (outcome == PoolOutcome.Full && _arenas.TryGrow(seen, 1, ref outcome));

        // No new memory: then what has come back meanwhile.
        PoolOutcome last = PoolOutcome.Full;
        if (TryRentIdle(ref refusals, ref last) is BlockGuard returned)
        {
            outcome = last;
            return returned;
        }

        ReleaseIfClosed();
        return null;
    }

    // Idle memory, wherever it lies: a block of another thread's slot costs nanoseconds, one without memory a page fault for each page.
    // The maps once more: a block that was in no map at the first look, and in no slot at the next, may have moved from a slot into a map
    // in between.
    private BlockGuard? TryRentIdle(ref Refusals refusals, ref PoolOutcome outcome) =>
        _arenas.TryTake(resident: true, ref refusals, ref outcome)
        ?? _arenas.TryTakeCached(ref outcome)
        ?? _arenas.TryTake(resident: true, ref refusals, ref outcome);
}

/// <summary>The pool's fixed measures: its blocks, and how many there are at most.</summary>
internal readonly record struct PoolGeometry(int BlockSizeInBytes, int MaximumBlocks)
{
    /// <summary>4 MiB, the figure that the source of this design settled on by measuring a load–resize–save job.</summary>
    public const int DefaultBlockSizeInBytes = 4 * 1024 * 1024;

    private const long Megabyte = 1024 * 1024;

    // 64-bit processes address 47 bits on x64 and 48 on arm64: a figure beyond is no figure.
    private const long AddressSpace = 1L << 48;

    public long MaximumBytes => (long)MaximumBlocks * BlockSizeInBytes;

    /// <summary>Returns the most blocks that a pool may hold, by the options or by the memory available to the process.</summary>
    public static int BlocksWithin(int? megabytes, int blockSizeInBytes, bool is64Bit, long? availableBytes)
    {
        long bytes = megabytes is int given ? given * Megabyte : DefaultBytes(is64Bit, availableBytes);
        return (int)Math.Min(int.MaxValue, bytes / blockSizeInBytes);
    }

    private static long DefaultBytes(bool is64Bit, long? availableBytes) =>
        is64Bit && availableBytes is > 0 and <= AddressSpace ? availableBytes.Value / 8 : 128 * Megabyte;
}
