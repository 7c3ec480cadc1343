using System.Numerics;
using Allocator.Budgeting;

namespace Allocator.Lifetime;

/// <summary>
/// The array pool of one allocator, for small requests under a limit, and for requests that must be an array. It has a stack of idle
/// arrays for each power of two from 16 bytes to 1 GiB, and rents arrays of exactly that length. An array counts as committed from its
/// birth until it is dropped. Thread-safe.
/// </summary>
/// <remarks>
/// <see cref="System.Buffers.ArrayPool{T}.Shared"/> keeps arrays for every thread, which no budget counts and no trim reaches.
/// </remarks>
/// <param name="context">The allocator's context.</param>
/// <param name="maximumIdleBytes">The most bytes of idle arrays.</param>
/// <param name="requestCollection">Collects the dropped arrays. Null if no collection may be forced.</param>
internal sealed class CountedArrayPool(AllocatorContext context, long maximumIdleBytes, Action? requestCollection) : IIdleMemory
{
    /// <summary>The longest array of the pool: .NET has none of the next power of two.</summary>
    public const int LongestArray = SmallestArray << (Classes - 1);

    private const int SmallestArray = 16;
    private const int Classes = 27; // to 1 GiB

    // Dropped arrays go with the next Gen2 collection. One is requested if at least this many bytes were dropped.
    private const long WorthACollection = 1024 * 1024;

    // The guards of arrays that are or were lent to renters without an owner. Only the array keeps such a guard alive.
    private readonly ConditionalWeakTable<byte[], CountedArrayGuard> _lent = new();
    private readonly ArrayStack?[] _idle = new ArrayStack?[Classes];

    // Guards all fields below, so the counts are exact.
    private readonly ShortLock _lock = new();
    private long _idleBytes;
    private long _heldBytes;
    private long _outstanding;
    private long _outstandingBytes;
    private long _endedRents;
    private bool _isClosed;

    public long IdleBytes => Volatile.Read(ref _idleBytes);

    /// <summary>Gets the bytes of arrays that are idle or outstanding.</summary>
    public long HeldBytes => Volatile.Read(ref _heldBytes);

    /// <summary>Returns the length of the array that serves a request: the next power of two, and at least 16.</summary>
    public static int CapacityOf(int lengthInBytes) => CapacityOfClass(ClassOf(lengthInBytes));

    /// <summary>Reads how often arrays were rented and returned, and how many bytes are outstanding.</summary>
    public ArrayCounts ReadCounts()
    {
        using ShortLock.Section section = _lock.Enter();
        return new ArrayCounts { Rents = _endedRents + _outstanding, Returns = _endedRents, RentedBytes = _outstandingBytes };
    }

    /// <summary>Rents an array of at least that many bytes; its rent has not begun. Null if no more may be held.</summary>
    public CountedArrayGuard? TryRent(int lengthInBytes, ref Refusals refusals, out bool isNew)
    {
        CountedArrayGuard? idle = TryRentIdle(lengthInBytes);
        isNew = idle is null;
        return idle ?? TryMake(CapacityOf(lengthInBytes), ref refusals);
    }

    /// <summary>Makes an array of exactly that many bytes, which is dropped after its rent. Null if no more may be held.</summary>
    public CountedArrayGuard? TryMakeExact(int lengthInBytes, ref Refusals refusals) => TryMake(lengthInBytes, ref refusals);

    /// <summary>Rents an idle array of at least that many bytes; its rent has not begun. Null if there is none.</summary>
    public CountedArrayGuard? TryRentIdle(int lengthInBytes)
    {
        CountedArrayGuard? guard;
        using (_lock.Enter())
        {
            guard = TryTake(ClassOf(lengthInBytes), staleOnly: false);
            if (guard is not null)
            {
                BeginRent(guard);
            }
        }

        if (guard?.IsFoundUnreachable == true)
        {
            // The pool itself was found unreachable, together with its guards.
            guard.Cancel();
            return null;
        }

        return guard;
    }

    /// <summary>Takes back an array whose rent has ended, or never began.</summary>
    public void Return(CountedArrayGuard guard, bool mayKeep)
    {
        Debug.Assert(guard.Account is null, "Idle memory is charged to no account.");
        long bytes = guard.CapacityInBytes;
        bool isKept;
        using (_lock.Enter())
        {
            EndRent(guard);
            isKept = mayKeep && !_isClosed && bytes <= maximumIdleBytes - _idleBytes && bytes == CapacityOf((int)bytes)
                && _idle[ClassOf((int)bytes)]!.TryPush(guard);
            _idleBytes += isKept ? bytes : 0;
        }

        if (!isKept)
        {
            Release(guard);
        }
    }

    /// <summary>Counts a rent as ended because its renter was collected. The array itself is returned by <see cref="Return"/>.</summary>
    public void NoteAbandoned(CountedArrayGuard guard)
    {
        using ShortLock.Section section = _lock.Enter();
        EndRent(guard);
    }

    /// <summary>Lends the array of a rent that has begun to a renter that has only the array.</summary>
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

    /// <summary>Ends the rent of an array. False if it does not belong to this pool, or if another call ended the rent.</summary>
    public bool TryReturn(byte[] array, bool clear) =>
        _lent.TryGetValue(array, out CountedArrayGuard? guard) && guard.TryEndLent(clear);

    /// <summary>Drops idle arrays, the longest first.</summary>
    public long Release(long bytes) => RequestCollection(ReleaseIdle(bytes, staleOnly: false));

    /// <summary>
    /// Drops a part, rounded up, of the arrays that no rent has needed since the last call. Returns their bytes. One call at a time.
    /// </summary>
    public long TrimStale(double rate)
    {
        long stale = 0;
        using (_lock.Enter())
        {
            for (int index = 0; index < Classes; index++)
            {
                stale += (long)(_idle[index]?.Stale ?? 0) * CapacityOfClass(index);
            }
        }

        long dropped = ReleaseIdle((long)Math.Ceiling(stale * rate), staleOnly: true);
        using (_lock.Enter())
        {
            foreach (ArrayStack? idle in _idle)
            {
                idle?.StartPeriod();
            }
        }

        return RequestCollection(dropped);
    }

    /// <summary>Drops all idle arrays now, and outstanding ones when they are returned.</summary>
    public void Close()
    {
        using (_lock.Enter())
        {
            _isClosed = true;
        }

        ReleaseIdle(long.MaxValue, staleOnly: false);
    }

    private static int ClassOf(int lengthInBytes)
    {
        Debug.Assert(lengthInBytes is > 0 and <= LongestArray);
        return 60 - BitOperations.LeadingZeroCount((ulong)(lengthInBytes - 1) | (SmallestArray - 1));
    }

    private static int CapacityOfClass(int index) => SmallestArray << index;

    private CountedArrayGuard? TryMake(int length, ref Refusals refusals)
    {
        if (!Commitment.TryTake(context, length, grantsNow: true, ref refusals, out Commitment commitment))
        {
            return null;
        }

        try
        {
            // The stack that will keep the array is made first: a return must not fail if out of memory.
            int index = ClassOf(length);
            if (Volatile.Read(ref _idle[index]) is null)
            {
                Interlocked.CompareExchange(ref _idle[index], new ArrayStack(), null);
            }

            byte[] array = new byte[length];
            int populated = context.Populates ? length : 0;
            for (int i = 0; i < populated; i += Environment.SystemPageSize)
            {
                // A fresh array has no memory before it is written to.
                array[i] = 0;
            }

            CountedArrayGuard guard = new(this, array, context);
            using (_lock.Enter())
            {
                _heldBytes += length;
                BeginRent(guard);
            }

            commitment.CommitArray(length);
            return guard;
        }
        catch
        {
            commitment.Cancel();
            throw;
        }
    }

    // Leaves an array and its guard to the garbage collector.
    private void Release(CountedArrayGuard guard)
    {
        Debug.Assert(!_lock.IsHeld && !guard.IsOutstanding, "Neither idle nor rented.");
        GC.SuppressFinalize(guard);
        long bytes = guard.CapacityInBytes;
        using (_lock.Enter())
        {
            _heldBytes -= bytes;
        }

        Commitment.EndReleaseOfArray(context, bytes, grantedBytes: bytes);
    }

    private long ReleaseIdle(long bytes, bool staleOnly)
    {
        Debug.Assert(!_lock.IsHeld);
        long dropped = 0;
        for (int index = Classes - 1; index >= 0 && dropped < bytes;)
        {
            CountedArrayGuard? guard;
            using (_lock.Enter())
            {
                guard = TryTake(index, staleOnly);
            }

            if (guard is null)
            {
                index--;
                continue;
            }

            dropped += guard.CapacityInBytes;
            Release(guard);
        }

        return dropped;
    }

    private CountedArrayGuard? TryTake(int index, bool staleOnly)
    {
        Debug.Assert(_lock.IsHeld);
        CountedArrayGuard? guard = _idle[index]?.TryPop(staleOnly);
        _idleBytes -= guard?.CapacityInBytes ?? 0;
        return guard;
    }

    private void BeginRent(CountedArrayGuard guard)
    {
        Debug.Assert(_lock.IsHeld && !guard.IsOutstanding);
        guard.IsOutstanding = true;
        _outstanding++;
        _outstandingBytes += guard.CapacityInBytes;
    }

    private void EndRent(CountedArrayGuard guard)
    {
        Debug.Assert(_lock.IsHeld);
        if (guard.IsOutstanding)
        {
            guard.IsOutstanding = false;
            _outstanding--;
            _outstandingBytes -= guard.CapacityInBytes;
            _endedRents += guard.TakeRents();
        }
    }

    private long RequestCollection(long dropped)
    {
        if (dropped >= WorthACollection)
        {
            requestCollection?.Invoke();
        }

        return dropped;
    }

    /// <summary>The idle arrays of one length, at most one a core. Used only under the pool's lock.</summary>
    private sealed class ArrayStack
    {
        private readonly CountedArrayGuard?[] _guards = new CountedArrayGuard?[Environment.ProcessorCount];
        private int _count;

        /// <summary>Gets how many arrays no rent has needed in this period: the lowest number of idle ones.</summary>
        public int Stale { get; private set; }

        public bool TryPush(CountedArrayGuard guard)
        {
            if (_count == _guards.Length)
            {
                return false;
            }

            _guards[_count++] = guard;
            return true;
        }

        public CountedArrayGuard? TryPop(bool staleOnly)
        {
            if (_count == 0 || (staleOnly && Stale == 0))
            {
                return null;
            }

            CountedArrayGuard guard = _guards[--_count]!;
            _guards[_count] = null;
            Stale = staleOnly ? Stale - 1 : Math.Min(Stale, _count);
            return guard;
        }

        public void StartPeriod() => Stale = _count;
    }
}
