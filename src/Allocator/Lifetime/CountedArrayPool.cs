using System.Numerics;
using Allocator.Budgeting;
using Allocator.Diagnostics;

namespace Allocator.Lifetime;

/// <summary>
/// The array pool of one allocator, for small requests that count against a budget, and for what has to be an array. It has a class
/// for each power of two from 16 bytes to 1 GiB, and hands out arrays of exactly that length. An array counts as committed from its birth
/// until it is dropped. Thread-safe: an idle array lies in a slot, is taken and put there by one compare-exchange, and keeps its permit.
/// </summary>
/// <remarks>
/// <see cref="System.Buffers.ArrayPool{T}.Shared"/> keeps arrays for every thread, which no budget counts and no trim reaches.
/// </remarks>
internal sealed class CountedArrayPool : IPermitKeeper
{
    /// <summary>The longest array that it has: of the next power of two there is none.</summary>
    public const int LongestArray = SmallestArray << (Classes - 1);

    private const int SmallestArray = 16;
    private const int Classes = 27; // to 1 GiB

    // Dropped arrays go with the next Gen2 collection. For less than that none is asked for.
    private const long WorthACollection = 1024 * 1024;

    private readonly AllocatorContext _context;
    private readonly IdleBytes _idleBytes;
    private readonly Action? _requestCollection;

    // The guards of arrays that are or were rented as such. A guard is kept by its array there, and by nothing else.
    private readonly ConditionalWeakTable<byte[], CountedArrayGuard> _lent = new();
    private readonly IdleArrays?[] _classes = new IdleArrays?[Classes];
    private readonly ShortLock _drains = new();
    private long _heldBytes;
    private int _closed;

    /// <summary>Makes one that keeps so many idle bytes at most; a collection, where one may be forced, frees what is dropped.</summary>
    public CountedArrayPool(AllocatorContext context, long maximumIdleBytes, Action? requestCollection)
    {
        _context = context;
        _idleBytes = new IdleBytes(maximumIdleBytes);
        _requestCollection = requestCollection;
    }

    public ArrayRecords Records { get; } = new();

    public long IdleBytes => SumIdle();

    public long KeptBytes => SumIdle(ofKeptPermits: true);

    private bool IsClosed => Volatile.Read(ref _closed) != 0;

    /// <summary>Gets the bytes of arrays that are idle or outstanding.</summary>
    public long HeldBytes => Volatile.Read(ref _heldBytes);

    /// <summary>Returns the length of the array that serves a request: the next power of two, and at least 16.</summary>
    public static int CapacityOf(int lengthInBytes) => CapacityOfClass(ClassOf(lengthInBytes));

    /// <summary>Rents an array of at least that many bytes, its rent not begun; null where as much is held as may be.</summary>
    public CountedArrayGuard? TryRent(int lengthInBytes, ref Refusals refusals, out bool isNew)
    {
        CountedArrayGuard? idle = TryRentIdle(lengthInBytes);
        isNew = idle is null;

        // The request has a permit of its own: what the array had kept goes back.
        idle?.TakePermit().Return();
        return idle ?? TryMake(ClassOf(lengthInBytes), ref refusals);
    }

    /// <summary>
    /// Rents an idle array of at least that many bytes, its rent not begun; null where there is none. Only one that is charged to an
    /// account already, or to none, where <paramref name="onlyOf"/> says so.
    /// </summary>
    public CountedArrayGuard? TryRentIdle(int lengthInBytes, bool onlyOf = false, BudgetAccount? account = null)
    {
        IdleArrays? idle = Volatile.Read(ref _classes[ClassOf(lengthInBytes)]);
        for (int i = 0; i < IdleArrays.Capacity && idle is not null; i++)
        {
            int slot = IdleArrays.SlotAfter(i);
            if (idle.LookAt(slot) is not CountedArrayGuard guard || (onlyOf && guard.Account != account) || !idle.TryTake(slot, guard))
            {
                continue;
            }

            if (!guard.IsFoundUnreachable && (!onlyOf || guard.Account == account))
            {
                return guard;
            }

            // The pool itself was found unreachable, and the guards with it; or the array was another's for a moment, and is back.
            guard.Cancel();
        }

        return null;
    }

    /// <summary>Gets whether an array of at least that many bytes lies idle.</summary>
    public bool HasIdle(int lengthInBytes) => Volatile.Read(ref _classes[ClassOf(lengthInBytes)]) is { IsEmpty: false };

    /// <summary>Takes an array back, with its permit where it keeps that. The rent has ended, or never began.</summary>
    public void TakeBack(CountedArrayGuard guard)
    {
        bool keepsPermit = guard.Account is not null;
        if (IsClosed || !TryKeep(guard))
        {
            Drop(guard);
        }
        else if (IsClosed)
        {
            // Closed meanwhile: that may have looked before this one was there.
            DropIdle(long.MaxValue);
        }
        else if (keepsPermit && _context.Budget.HasWaiters)
        {
            // A request that began to wait meanwhile finds the array in its slot, or is seen here.
            ReleasePermits();
        }
    }

    /// <summary>Has idle arrays return the permits that they have kept. Never throws.</summary>
    public void ReleasePermits()
    {
        using (_drains.Enter())
        {
            // One at a time: a request that finds nothing here finds the room that another thread has made.
            long bytes = 0;
            foreach (IdleArrays? idle in _classes)
            {
                for (int i = 0; i < IdleArrays.Capacity && idle is not null; i++)
                {
                    if (idle.LookAt(i) is CountedArrayGuard { Account: not null } guard && idle.TryTake(i, guard))
                    {
                        bytes += guard.TakePermit().Bytes;
                        TakeBack(guard);
                    }
                }
            }

            _context.Budget.GiveBack(bytes);
        }

        _context.Budget.ServeWaiters();
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
        BudgetPermit permit = guard.TakePermit();
        Records.Remove(guard.OwnRecord, bytes);
        Interlocked.Add(ref _heldBytes, -bytes);
        _context.Budget.NoteReleased(bytes);
        permit.Return();
    }

    /// <summary>Drops idle arrays of at least so many bytes, as far as there are, the largest first; returns what went.</summary>
    public long Trim(long bytes, TrimReason reason) => Count(DropIdle(bytes), reason);

    /// <summary>Drops a part, rounded up, of what has been idle since the last call; returns what went. One call at a time.</summary>
    public long TrimStale(double rate)
    {
        long stale = SumIdle(ofStale: true);
        long dropped = DropIdle((long)Math.Ceiling(stale * rate), staleOnly: true);
        Records.StartPeriod();
        return Count(dropped, TrimReason.Period);
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
                AddClass(index);
            }

            CountedArrayGuard guard = new(this, new byte[length], _context);
            Records.NoteMade(length);
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

    private bool TryKeep(CountedArrayGuard guard)
    {
        long bytes = guard.CapacityInBytes;
        return Records.TryAdd(guard.OwnRecord, bytes) && _classes[ClassOf((int)bytes)]!.TryPut(guard);
    }

    private void AddClass(int index)
    {
        IdleArrays idle = new(CapacityOfClass(index), _idleBytes);
        idle.CountInAdvance();
        if (Interlocked.CompareExchange(ref _classes[index], idle, null) is not null)
        {
            idle.Cancel();
        }
    }

    // Those that were idle through the period, which ends here, or all.
    private long DropIdle(long bytes, bool staleOnly = false)
    {
        long dropped = 0;
        for (int index = Classes - 1; index >= 0; index--)
        {
            IdleArrays? idle = Volatile.Read(ref _classes[index]);
            for (int i = 0; i < IdleArrays.Capacity && idle is not null; i++)
            {
                if (dropped < bytes && idle.LookAt(i) is CountedArrayGuard guard
                    && (!staleOnly || guard.OwnRecord.IsStale) && idle.TryTake(i, guard))
                {
                    Drop(guard);
                    dropped += CapacityOfClass(index);
                }
            }
        }

        return dropped;
    }

    private long SumIdle(bool ofKeptPermits = false, bool ofStale = false)
    {
        long sum = 0;
        foreach (IdleArrays? idle in _classes)
        {
            sum += idle?.SumBytes(ofKeptPermits, ofStale) ?? 0;
        }

        return sum;
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
}
