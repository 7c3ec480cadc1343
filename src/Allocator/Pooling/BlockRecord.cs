using Allocator.Lifetime;
using Allocator.Native;

namespace Allocator.Pooling;

/// <summary>
/// What the pool knows of one block, idle or outstanding: its state, its place, and, only while it is idle, its guard. A block with the
/// flag <see cref="RentState.Cached"/>, or a run that begins with one with <see cref="RentState.CachedRun"/>, goes to the thread that
/// takes that flag away.
/// </summary>
internal sealed class BlockRecord(BlockArena arena, int index) : RentState
{
    // To 128 bytes, two cache lines, which processors fetch in pairs: cores that have neighbouring blocks do not slow each other down.
#pragma warning disable CS0169, IDE0051 // Nothing reads it.
    private readonly Padding _padding;
#pragma warning restore CS0169, IDE0051

    public BlockArena Arena { get; } = arena;

    /// <summary>Gets the block's number in its arena.</summary>
    public int Index { get; } = index;

    /// <summary>Gets or sets the guard; none while the block is outstanding, for which the owner's is the only reference.</summary>
    public BlockGuard? Guard { get; set; }

    /// <summary>Gets or sets the slot of the cache that it was in last; 0 for none. For the thread that holds the block.</summary>
    public int Slot { get; set; }

    /// <summary>Gets or sets as far as where the container has granted the block. For the thread that holds the block.</summary>
    public long GrantedBytes { get; set; }

    /// <summary>Gets whether a block lies in the cache, or the run that begins with it.</summary>
    public bool IsCached => (Volatile.Read(ref State) & (Cached | CachedRun)) != 0;

    /// <summary>Gets the state, whether the block lies in the cache or in the map.</summary>
    public long StateInAnyPlace => Volatile.Read(ref State) & ~(Cached | CachedRun);

    /// <summary>
    /// Takes a block, or the run that begins with it, out of the cache for the caller; false where it is not in the cache, or another
    /// thread took it.
    /// </summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public bool TryLeaveCache(long flags = Cached | CachedRun)
    {
        long seen = Volatile.Read(ref State);
        return (seen & flags) != 0 && TryLeave(seen);
    }

    /// <summary>Takes a single block out of the cache, and returns its guard; null where that is not possible.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public BlockGuard? TryTakeCached() => TryLeaveCache(Cached) ? TakeGuard() : null;

    /// <summary>As <see cref="TryTakeCached"/>, for a run of exactly so many blocks.</summary>
    /// <remarks>The length is that of the state: each rent has another state, and what was not rented goes into no cache.</remarks>
    public BlockGuard? TryTakeCachedRun(int count)
    {
        long seen = Volatile.Read(ref State);
        return (seen & CachedRun) != 0 && Volatile.Read(ref RunLength) == count && TryLeave(seen) ? TakeGuard() : null;
    }

    /// <summary>Puts a block or run, which the caller holds and whose rent is over, into the cache.</summary>
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
