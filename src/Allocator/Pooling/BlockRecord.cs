using Allocator.Lifetime;
using Allocator.Native;

namespace Allocator.Pooling;

/// <summary>
/// The pool's record of one block, idle or outstanding: its state, its place and, only while it is idle, its guard. A cached block has the
/// flag <see cref="RentState.Cached"/>; a cached run has <see cref="RentState.CachedRun"/> on its first block. The thread that takes the
/// flag away has the block or run.
/// </summary>
internal sealed class BlockRecord(BlockArena arena, int index) : RentState
{
    // Pads the record to 128 bytes. Processors fetch cache lines in pairs, so cores with neighbouring blocks do not slow each other down.
#pragma warning disable CS0169, IDE0051 // Nothing reads it.
    private readonly Padding _padding;
#pragma warning restore CS0169, IDE0051

    public BlockArena Arena { get; } = arena;

    public int Index { get; } = index;

    /// <summary>Gets or sets the guard. Null while the block is outstanding: then only the owner references it.</summary>
    public BlockGuard? Guard { get; set; }

    /// <summary>Gets or sets the slot of the cache that last had the block; 0 for none. Only the holder of the block uses it.</summary>
    public int Slot { get; set; }

    /// <summary>Gets or sets how many bytes of the block the container has granted. Only the holder of the block uses it.</summary>
    public long GrantedBytes { get; set; }

    /// <summary>Gets whether the block, or the run that begins with it, is in the cache.</summary>
    public bool IsCached => (Volatile.Read(ref State) & (Cached | CachedRun)) != 0;

    /// <summary>Gets the state without the flags that say whether it is in the cache.</summary>
    public long StateInAnyPlace => Volatile.Read(ref State) & ~(Cached | CachedRun);

    /// <summary>
    /// Takes a block, or the run that begins with it, out of the cache for the caller. False if it is not there, or another thread took
    /// it.
    /// </summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public bool TryLeaveCache(long flags = Cached | CachedRun)
    {
        long seen = Volatile.Read(ref State);
        return (seen & flags) != 0 && TryLeave(seen);
    }

    /// <summary>Takes a single block out of the cache, and returns its guard. Null if that is not possible.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public BlockGuard? TryTakeCached() => TryLeaveCache(Cached) ? TakeGuard() : null;

    /// <summary>Like <see cref="TryTakeCached"/>, for a run of exactly this many blocks.</summary>
    /// <remarks>The length read belongs to the state read: each rent changes the state. A cache has only rented runs.</remarks>
    public BlockGuard? TryTakeCachedRun(int count)
    {
        long seen = Volatile.Read(ref State);
        return (seen & CachedRun) != 0 && Volatile.Read(ref RunLength) == count && TryLeave(seen) ? TakeGuard() : null;
    }

    /// <summary>Puts a block or run into the cache. The caller holds it, and its rent is over.</summary>
    /// <param name="guard">The guard of the block, or of the run that begins with it.</param>
    /// <param name="flag"><see cref="RentState.Cached"/> for a block, <see cref="RentState.CachedRun"/> for a run.</param>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void EnterCache(BlockGuard guard, long flag)
    {
        Debug.Assert(flag == (RunLength == 1 ? Cached : CachedRun), "The flag is not that of the length.");
        Debug.Assert(IsIdle(State) && !IsCached, "The cache is for what one thread holds.");
        Debug.Assert(guard.Block == this && guard.Account is null, "Idle memory is charged to no account.");
        Guard = guard;
        ProcessBarrier.Publish(ref State, State | flag);
    }

    /// <summary>Takes the guard out of the pool's reach. The caller holds the block.</summary>
    public BlockGuard TakeGuard()
    {
        BlockGuard guard = Guard!;
        Debug.Assert(guard is not null && IsIdle(State) && !IsCached, "The caller does not hold the block.");
        Guard = null;
        return guard!;
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private bool TryLeave(long seen) =>
        Interlocked.CompareExchange(ref State, seen & ~(Cached | CachedRun), seen) == seen;

    [StructLayout(LayoutKind.Sequential, Size = 32)]
    private readonly struct Padding;
}
