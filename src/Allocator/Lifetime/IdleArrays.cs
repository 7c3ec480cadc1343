using Allocator.Budgeting;

namespace Allocator.Lifetime;

/// <summary>
/// The idle arrays of one length, each in a slot, at most as many as there are cores. One compare-exchange takes or puts one. Threads
/// begin at different slots, and find what lies in any.
/// </summary>
internal sealed class IdleArrays(int length, IdleBytes counted)
{
    // In references: slots are 128 bytes apart (two cache lines, which processors fetch in pairs), and the first is as far from the
    // array's length, which each access reads.
    private const int Distance = 16;

    private readonly CountedArrayGuard?[] _slots = new CountedArrayGuard?[(Capacity + 1) * Distance];
    private bool _isCountedInAdvance;

    /// <summary>Gets the number of slots.</summary>
    public static int Capacity { get; } = Environment.ProcessorCount;

    public bool IsEmpty => SumBytes() == 0;

    /// <summary>Returns the slot that the current thread looks at after so many others.</summary>
    public static int SlotAfter(int others) => (int)((uint)(Environment.CurrentManagedThreadId + others) % (uint)Capacity);

    /// <summary>
    /// Counts all slots as if an array lay in each, where there is room for that: puts and takes then change no count. Called before other
    /// threads see this.
    /// </summary>
    public void CountInAdvance() => _isCountedInAdvance = counted.TryAddInAdvance((long)Capacity * length);

    /// <summary>Takes that back, where no other thread will see this.</summary>
    public void Cancel() => counted.Remove(_isCountedInAdvance ? (long)Capacity * length : 0);

    /// <summary>Returns what lies in a slot, which another thread may take at any moment; null for nothing.</summary>
    public CountedArrayGuard? LookAt(int slot) => Volatile.Read(ref At(slot));

    /// <summary>Takes what lies in a slot; false where it no longer does.</summary>
    public bool TryTake(int slot, CountedArrayGuard guard)
    {
        bool isTaken = Interlocked.CompareExchange(ref At(slot), null, guard) == guard;
        if (isTaken && !_isCountedInAdvance)
        {
            counted.Remove(length);
        }

        return isTaken;
    }

    /// <summary>Puts an array that the caller holds into an empty slot; false where there is none, or as much lies idle as may.</summary>
    public bool TryPut(CountedArrayGuard guard)
    {
        if (!_isCountedInAdvance && !counted.TryAdd(length))
        {
            return false;
        }

        for (int i = 0; i < Capacity; i++)
        {
            ref CountedArrayGuard? slot = ref At(SlotAfter(i));
            if (Volatile.Read(ref slot) is null && Interlocked.CompareExchange(ref slot, guard, null) is null)
            {
                return true;
            }
        }

        counted.Remove(_isCountedInAdvance ? 0 : length);
        return false;
    }

    /// <summary>Adds up the bytes of what lies here, or what of it has kept its permit, or has been idle through the period.</summary>
    public long SumBytes(bool ofKeptPermits = false, bool ofStale = false)
    {
        long sum = 0;
        for (int slot = 0; slot < Capacity; slot++)
        {
            bool isMeant = LookAt(slot) is CountedArrayGuard guard
                && (!ofKeptPermits || guard.Account is not null) && (!ofStale || guard.OwnRecord.IsStale);
            sum += isMeant ? length : 0;
        }

        return sum;
    }

    private ref CountedArrayGuard? At(int slot) => ref _slots[(slot + 1) * Distance];
}

/// <summary>How many bytes may lie idle in the arrays of one pool: half of them in lengths that are counted in advance.</summary>
internal sealed class IdleBytes(long maximum)
{
    private long _bytes;

    public bool TryAddInAdvance(long bytes) => MemoryBudget.TryAdd(ref _bytes, bytes, maximum / 2);

    public bool TryAdd(long bytes) => MemoryBudget.TryAdd(ref _bytes, bytes, maximum);

    public void Remove(long bytes)
    {
        if (bytes != 0)
        {
            Interlocked.Add(ref _bytes, -bytes);
        }
    }
}
