namespace Allocator.Lifetime;

/// <summary>
/// The idle arrays of one length, each in a slot, at most as many as there are cores. One compare-exchange takes or puts one. Threads
/// begin at different slots, and find what lies in any.
/// </summary>
internal sealed class IdleArrays
{
    // In references: slots are 128 bytes apart (two cache lines, which processors fetch in pairs), and the first is as far from the
    // array's length, which each access reads.
    private const int Distance = 16;

    private readonly CountedArrayGuard?[] _slots = new CountedArrayGuard?[(Capacity + 1) * Distance];

    /// <summary>Gets the number of slots.</summary>
    public static int Capacity { get; } = Environment.ProcessorCount;

    public bool IsEmpty
    {
        get
        {
            int slot = 0;
            while (slot < Capacity && LookAt(slot) is null)
            {
                slot++;
            }

            return slot == Capacity;
        }
    }

    /// <summary>Returns the slot that the current thread looks at after so many others.</summary>
    public static int SlotAfter(int others) => (int)((uint)(Environment.CurrentManagedThreadId + others) % (uint)Capacity);

    /// <summary>Returns what lies in a slot, which another thread may take at any moment; null for nothing.</summary>
    public CountedArrayGuard? LookAt(int slot) => Volatile.Read(ref At(slot));

    /// <summary>Takes what lies in a slot; false where it no longer does.</summary>
    public bool TryTake(int slot, CountedArrayGuard guard) => Interlocked.CompareExchange(ref At(slot), null, guard) == guard;

    /// <summary>Puts an array that the caller holds into an empty slot; false where there is none.</summary>
    public bool TryPut(CountedArrayGuard guard)
    {
        for (int i = 0; i < Capacity; i++)
        {
            ref CountedArrayGuard? slot = ref At(SlotAfter(i));
            if (Volatile.Read(ref slot) is null && Interlocked.CompareExchange(ref slot, guard, null) is null)
            {
                return true;
            }
        }

        return false;
    }

    private ref CountedArrayGuard? At(int slot) => ref _slots[(slot + 1) * Distance];
}
