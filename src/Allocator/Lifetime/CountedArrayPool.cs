using System.Numerics;
using Allocator.Budgeting;
using Allocator.Diagnostics;

namespace Allocator.Lifetime;

/// <summary>
/// The array pool of one allocator, for small requests that count against a budget, and for what has to be an array. It has a class
/// for each power of two from 16 bytes to 1 GiB, and hands out arrays of exactly that length. An array counts as committed from its birth
/// until it is dropped. Thread-safe.
/// </summary>
/// <remarks>
/// <see cref="System.Buffers.ArrayPool{T}.Shared"/> keeps arrays for every thread, which no budget counts and no trim reaches.
/// </remarks>
internal sealed class CountedArrayPool
{
    /// <summary>The longest array that it has: of the next power of two there is none.</summary>
    public const int LongestArray = SmallestArray << (Classes - 1);

    private const int SmallestArray = 16;
    private const int Classes = 27; // to 1 GiB

    // Dropped arrays go with the next Gen2 collection. For less than that none is asked for.
    private const long WorthACollection = 1024 * 1024;

    private readonly AllocatorContext _context;
    private readonly long _maximumIdleBytes;
    private readonly Action? _requestCollection;

    // The guards of arrays that are or were rented as such. A guard is kept by its array there, and by nothing else.
    private readonly ConditionalWeakTable<byte[], CountedArrayGuard> _lent = new();
    private readonly IdleArrays?[] _classes = new IdleArrays?[Classes];
    private long _idleBytes;
    private long _heldBytes;
    private int _closed;

    /// <summary>Makes one that keeps so many idle bytes at most; a collection, where one may be forced, frees what is dropped.</summary>
    public CountedArrayPool(AllocatorContext context, long maximumIdleBytes, Action? requestCollection)
    {
        _context = context;
        _maximumIdleBytes = maximumIdleBytes;
        _requestCollection = requestCollection;
    }

    public long IdleBytes => Volatile.Read(ref _idleBytes);

    /// <summary>Gets the bytes of arrays that are idle or outstanding.</summary>
    public long HeldBytes => Volatile.Read(ref _heldBytes);

    /// <summary>Returns the length of the array that serves a request: the next power of two, and at least 16.</summary>
    public static int CapacityOf(int lengthInBytes) => CapacityOfClass(ClassOf(lengthInBytes));

    /// <summary>Rents an array of at least that many bytes, its rent not begun; null where as much is held as may be.</summary>
    public CountedArrayGuard? TryRent(int lengthInBytes, ref Refusals refusals, out bool isNew)
    {
        CountedArrayGuard? idle = TryRentIdle(lengthInBytes);
        isNew = idle is null;
        return idle ?? TryMake(ClassOf(lengthInBytes), ref refusals);
    }

    /// <summary>
    /// Rents an idle array of at least that many bytes, its rent not begun, and charges it to an account, if any; null where there is
    /// none, or the account has no room.
    /// </summary>
    public CountedArrayGuard? TryRentIdle(int lengthInBytes, BudgetAccount? account = null)
    {
        int index = ClassOf(lengthInBytes);
        CountedArrayGuard? guard;
        while ((guard = TryTakeIdle(index, account))?.IsFoundUnreachable == true)
        {
            // Together with the pool.
            Drop(guard);
            account?.Return(guard.CapacityInBytes);
        }

        return guard;
    }

    /// <summary>Takes an array back. The rent has ended, or never began.</summary>
    public void TakeBack(CountedArrayGuard guard)
    {
        if (Volatile.Read(ref _closed) != 0 || !TryKeep(guard))
        {
            Drop(guard);
        }
        else if (Volatile.Read(ref _closed) != 0)
        {
            // Closed meanwhile: that may have looked before this one was there.
            DropIdle(long.MaxValue);
        }
    }

    /// <summary>Gives the array of a rent that has begun to a renter who has nothing but that.</summary>
    public byte[] Lend(CountedArrayGuard guard, long generation)
    {
        byte[] array = guard.Array!;
        try
        {
            if (!_lent.TryGetValue(array, out _))
            {
                _lent.Add(array, guard);
            }

            guard.Lend(generation);
            return array;
        }
        catch
        {
            guard.Dispose(generation);
            throw;
        }
    }

    /// <summary>Ends the rent of an array; false where it is none of this pool's, or another call did.</summary>
    public bool TryReturn(byte[] array, bool clear) =>
        _lent.TryGetValue(array, out CountedArrayGuard? guard) && guard.TryEndLent(clear);

    /// <summary>Leaves an array to the garbage collector, and its guard with it.</summary>
    public void Drop(CountedArrayGuard guard)
    {
        GC.SuppressFinalize(guard);
        long bytes = guard.CapacityInBytes;
        Interlocked.Add(ref _heldBytes, -bytes);
        _context.Budget.NoteReleased(bytes);
    }

    /// <summary>Drops idle arrays of at least so many bytes, as far as there are, the largest first; returns what went.</summary>
    public long Trim(long bytes, TrimReason reason) => Count(DropIdle(bytes), reason);

    /// <summary>Drops a part, rounded up, of what has been idle since the last call; returns what went. One call at a time.</summary>
    public long TrimStale(double rate)
    {
        long stale = 0;
        for (int index = 0; index < Classes; index++)
        {
            stale += (long)(Volatile.Read(ref _classes[index])?.LeastIdle ?? 0) * CapacityOfClass(index);
        }

        return Count(DropIdle((long)Math.Ceiling(stale * rate), staleOnly: true), TrimReason.Period);
    }

    /// <summary>Drops all idle arrays now, and outstanding ones when they come back.</summary>
    public void Close()
    {
        Interlocked.Exchange(ref _closed, 1);
        DropIdle(long.MaxValue);
    }

    private static int ClassOf(int lengthInBytes)
    {
        Debug.Assert(lengthInBytes is > 0 and <= LongestArray);
        return 60 - BitOperations.LeadingZeroCount((ulong)(lengthInBytes - 1) | (SmallestArray - 1));
    }

    private static int CapacityOfClass(int index) => SmallestArray << index;

    private CountedArrayGuard? TryMake(int index, ref Refusals refusals)
    {
        int length = CapacityOfClass(index);
        if (!_context.Budget.TryCommit(length, ref refusals))
        {
            return null;
        }

        try
        {
            // Where the array will be kept is made before: a return must not fail for want of memory.
            if (Volatile.Read(ref _classes[index]) is null)
            {
                Interlocked.CompareExchange(ref _classes[index], new IdleArrays(), null);
            }

            CountedArrayGuard guard = new(this, new byte[length], _context);
            Interlocked.Add(ref _heldBytes, length);
            _context.Budget.NoteCommitted(0, length);
            return guard;
        }
        catch
        {
            _context.Budget.CancelCommit(length);
            throw;
        }
    }

    private CountedArrayGuard? TryTakeIdle(int index, BudgetAccount? account = null)
    {
        CountedArrayGuard? guard = Volatile.Read(ref _classes[index])?.TryPop(account, CapacityOfClass(index));
        if (guard is not null)
        {
            Interlocked.Add(ref _idleBytes, -guard.CapacityInBytes);
        }

        return guard;
    }

    private bool TryKeep(CountedArrayGuard guard)
    {
        long bytes = guard.CapacityInBytes;
        if (!MemoryBudget.TryAdd(ref _idleBytes, bytes, _maximumIdleBytes))
        {
            return false;
        }

        bool isKept = _classes[ClassOf((int)bytes)]!.TryPush(guard);
        if (!isKept)
        {
            Interlocked.Add(ref _idleBytes, -bytes);
        }

        return isKept;
    }

    // Those that were idle through the period, which ends here, or all.
    private long DropIdle(long bytes, bool staleOnly = false)
    {
        long dropped = 0;
        for (int index = Classes - 1; index >= 0; index--)
        {
            IdleArrays? idle = Volatile.Read(ref _classes[index]);
            int left = staleOnly ? idle?.LeastIdle ?? 0 : int.MaxValue;
            for (; left > 0 && dropped < bytes && TryTakeIdle(index) is CountedArrayGuard guard; left--)
            {
                Drop(guard);
                dropped += CapacityOfClass(index);
            }

            if (staleOnly)
            {
                idle?.StartPeriod();
            }
        }

        return dropped;
    }

    private long Count(long dropped, TrimReason reason)
    {
        _context.Counters.CountTrim(reason, dropped);
        if (dropped >= WorthACollection)
        {
            _requestCollection?.Invoke();
        }

        return dropped;
    }

    /// <summary>The idle arrays of one length, at most as many as there are cores: last in, first out. Thread-safe.</summary>
    private sealed class IdleArrays
    {
        private readonly ShortLock _lock = new();
        private readonly CountedArrayGuard?[] _idle = new CountedArrayGuard?[Environment.ProcessorCount];
        private int _count;
        private int _leastIdle;

        /// <summary>Gets the least number that was idle at once since <see cref="StartPeriod"/>.</summary>
        public int LeastIdle => Volatile.Read(ref _leastIdle);

        public void StartPeriod()
        {
            using (_lock.Enter())
            {
                _leastIdle = _count;
            }
        }

        public CountedArrayGuard? TryPop(BudgetAccount? account, long bytes)
        {
            using (_lock.Enter())
            {
                // Charged before it is taken: an array that is neither idle nor charged would be missing to a request that was admitted.
                if (_count == 0 || account?.TryTake(bytes, overtakes: false) == false)
                {
                    return null;
                }

                CountedArrayGuard? guard = _idle[--_count];
                _idle[_count] = null;
                _leastIdle = Math.Min(_leastIdle, _count);
                return guard;
            }
        }

        public bool TryPush(CountedArrayGuard guard)
        {
            using (_lock.Enter())
            {
                if (_count == _idle.Length)
                {
                    return false;
                }

                _idle[_count++] = guard;
                return true;
            }
        }
    }
}
