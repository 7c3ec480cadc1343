using Allocator.Lifetime;
using Allocator.Native;

namespace Allocator.Pooling;

/// <summary>
/// What the pool knows of one block, idle or outstanding: its state, its place, and, only while it is idle, its guard. A block with the
/// flag <see cref="BlockState.Cached"/> goes to the thread that takes that flag away.
/// </summary>
internal sealed class BlockRecord : BlockState
{
    // To 128 bytes, two cache lines, which processors fetch in pairs: cores that have neighbouring blocks do not slow each other down.
#pragma warning disable CS0169, IDE0051 // Nothing reads it.
    private readonly Padding _padding;
#pragma warning restore CS0169, IDE0051

    public BlockRecord(BlockArena arena, int index)
    {
        Arena = arena;
        Index = index;
    }

    public BlockArena Arena { get; }

    /// <summary>Gets the block's number in its arena.</summary>
    public int Index { get; }

    /// <summary>Gets or sets the guard; none while the block is outstanding, for which the owner's is the only reference.</summary>
    public BlockGuard? Guard { get; set; }

    /// <summary>Gets or sets the slot of the cache that it was in last; 0 for none. For the thread that holds the block.</summary>
    public int Slot { get; set; }

    public bool IsCached => (Volatile.Read(ref State) & Cached) != 0;

    /// <summary>Gets the state, whether the block lies in the cache or in the map.</summary>
    public long StateInAnyPlace => Volatile.Read(ref State) & ~Cached;

    /// <summary>Takes the block out of the cache for the caller; false where it is not in the cache, or another thread took it.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public bool TryLeaveCache()
    {
        long seen = Volatile.Read(ref State);
        return (seen & Cached) != 0 && Interlocked.CompareExchange(ref State, seen & ~Cached, seen) == seen;
    }

    /// <summary>As <see cref="TryLeaveCache"/>, and returns the guard; null for false.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public BlockGuard? TryTakeCached() => TryLeaveCache() ? TakeGuard() : null;

    /// <summary>Puts a block, which the caller holds and whose rent is over, into the cache.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void PutCached(BlockGuard guard)
    {
        Debug.Assert(RunLength == 1 && IsIdle(State) && !IsCached, "The cache is for single blocks that one thread holds.");
        Debug.Assert(guard.Account is null, "Idle memory is charged to no account.");
        Guard = guard;
        ProcessBarrier.Publish(ref State, State | Cached);
    }

    /// <summary>Takes the guard out of the pool's reach. The caller holds the block.</summary>
    public BlockGuard TakeGuard()
    {
        BlockGuard guard = Guard!;
        Guard = null;
        return guard;
    }

    [StructLayout(LayoutKind.Sequential, Size = 40)]
    private readonly struct Padding;
}
