using System;
using System.Runtime.CompilerServices;
using Allocator.Lifetime;
using Allocator.Native;

namespace Allocator.Pooling;

/// <summary>All threads' slots for one pool.</summary>
internal sealed class ThreadSlotSet
{
    private readonly ThreadShares _shares = new();
    private readonly object _revoking = new();

    /// <summary>Takes a block from the current thread's slots, or gives null.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public BlockGuard? TryTake() => _shares.Find() is ThreadSlots slots ? slots.TryTake() : null;

    /// <summary>Puts a block into the current thread's slots. False where they are full, or there are none: returning must not fail, so they are made when renting.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public bool TryPut(BlockGuard block) => _shares.Find() is ThreadSlots slots && slots.TryPut(block);

    /// <summary>Makes slots for the current thread, where it has none.</summary>
    public void EnsureSlots()
    {
        if (_shares.Find() is null)
        {
            _shares.Add(new ThreadSlots(_shares), static ended => !((ThreadSlots)ended).SeemsFilled);
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
            int filled = CountFilled(all);
            if (filled == 0)
            {
                return false;
            }

            BlockGuard?[] taken = new BlockGuard?[ThreadSlots.Capacity];
            try
            {
                foreach ((_, ThreadShare share) in all)
                {
                    ((ThreadSlots)share).Revoke();
                }

                AsymmetricFence.Reach();
                foreach ((_, ThreadShare share) in all)
                {
                    int count = 0;
                    ((ThreadSlots)share).TryTakeAll(taken, ref count, isWanted);
                    any |= count > 0;
                    for (int i = 0; i < count; i++)
                    {
                        taken[i]!.Arena.Return(taken[i]!);
                    }
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

    private static int CountFilled((WeakReference<object> Life, ThreadShare Share)[] all)
    {
        int filled = 0;
        foreach ((_, ThreadShare share) in all)
        {
            filled += ((ThreadSlots)share).SeemsFilled ? 1 : 0;
        }

        return filled;
    }
}
