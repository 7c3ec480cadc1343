using System;
using System.Runtime.CompilerServices;
using Allocator.Lifetime;
using Allocator.Native;

namespace Allocator.Pooling;

/// <summary>All threads' slots for one pool.</summary>
internal sealed class ThreadSlotSet
{
    [ThreadStatic]
#pragma warning disable IDE1006 // A naming rule knows one prefix for statics, s_.
    private static bool t_hasRented;
#pragma warning restore IDE1006

    // As many blocks as threads can use at once are left where they are: two busy threads with one block between them would take it from each other for ever.
    private static readonly int s_blocksLeftAlone = Environment.ProcessorCount;

    private readonly ThreadShares _shares = new();
    private readonly object _revoking = new();

    // Here, so that a return to a closed pool allocates nothing. Cleared at once: a guard that it references would not be found abandoned.
    private readonly BlockGuard?[] _taken = new BlockGuard?[ThreadSlots.Capacity];

    /// <summary>Takes a block from the current thread's slots, or gives null.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public BlockGuard? TryTake() => _shares.Find() is ThreadSlots slots ? slots.TryTake() : null;

    /// <summary>Puts a block into the current thread's slots. False where they are full, or there are none: returning must not fail, so they are made when renting.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public bool TryPut(BlockGuard block) => _shares.Find() is ThreadSlots slots && slots.TryPut(block);

    /// <summary>Makes slots for the current thread, which found no block in any. Not at its first rent: a thread that comes for one would leave a block behind that others have to fetch.</summary>
    public void EnsureSlots()
    {
        if (_shares.Find() is ThreadSlots slots)
        {
            slots.Reopen();
        }
        else if (!t_hasRented)
        {
            t_hasRented = true;
        }
        else
        {
            _shares.FindOrAdd(static shares => new ThreadSlots(shares), static ended => !((ThreadSlots)ended).SeemsFilled);
        }
    }

    /// <summary>As <see cref="Drain"/>, where more lies in the slots than busy threads have need of. Otherwise new memory is better: each of them then has its own.</summary>
    public void DrainSurplus()
    {
        int blocks = 0;
        foreach ((_, ThreadShare share) in _shares.All)
        {
            blocks += ((ThreadSlots)share).SeemingCount;
        }

        if (blocks >= s_blocksLeftAlone)
        {
            Drain();
        }
    }

    /// <summary>Puts the blocks of all threads' slots, or those that are wanted, into their arenas.</summary>
    /// <param name="isWanted">Chooses, and may be called more than once for a block; null for all of them.</param>
    /// <returns>Whether there was any.</returns>
    /// <remarks>
    /// One system call of some microseconds, and none where all slots seem empty. A block that another thread puts at the same time may be missed, as if it had come just after.
    /// </remarks>
    public bool Drain(Func<BlockGuard, bool>? isWanted = null)
    {
        bool any = false;
        lock (_revoking)
        {
            (WeakReference<object> Life, ThreadShare Share)[] all = _shares.All;
            if (!RevokeFilled(all))
            {
                return false;
            }

            try
            {
                AsymmetricFence.Reach();
                foreach ((WeakReference<object> life, ThreadShare share) in all)
                {
                    any |= DrainOne((ThreadSlots)share, hasEnded: !life.TryGetTarget(out _), isWanted);
                }
            }
            finally
            {
                foreach ((_, ThreadShare share) in all)
                {
                    ((ThreadSlots)share).Restore();
                }
            }
        }

        return any;
    }

    private bool DrainOne(ThreadSlots slots, bool hasEnded, Func<BlockGuard, bool>? isWanted)
    {
        int count = 0;
        if (slots.IsRevoked)
        {
            slots.TryTakeAll(_taken, ref count, hasEnded, isWanted);
            for (int i = 0; i < count; i++)
            {
                BlockGuard block = _taken[i]!;
                _taken[i] = null;
                block.Arena.Return(block);
            }
        }

        return count > 0;
    }

    private static bool RevokeFilled((WeakReference<object> Life, ThreadShare Share)[] all)
    {
        bool any = false;
        foreach ((_, ThreadShare share) in all)
        {
            if (((ThreadSlots)share).SeemsFilled)
            {
                ((ThreadSlots)share).Revoke();
                any = true;
            }
        }

        return any;
    }
}
