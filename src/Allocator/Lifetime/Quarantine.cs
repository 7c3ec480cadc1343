using Allocator.Native;

namespace Allocator.Lifetime;

/// <summary>
/// Keeps abandoned memory from the next renter for at least one further Gen2 collection and one trim period: a span that outlived its
/// owner may still point into it. Guards are themselves the entries of its list, because finalizers add them and must not need managed
/// memory. Thread-safe.
/// </summary>
internal sealed class Quarantine
{
    private readonly ShortLock _lock = new();
    private readonly Clock _clock;
    private FinalizableGuard? _first;
    private bool _isClosed;

    // Of what is here: kept with every change, so that no call has to walk the list for them.
    private long _earliestEnd = long.MaxValue;
    private long _shortestStay = long.MaxValue;
    private long _shortestSearch = long.MaxValue;

    public Quarantine(Clock clock) => _clock = clock;

    /// <summary>Gets or sets what is called after something was added, on the thread that added it. It must not throw.</summary>
    public Action? Added { get; set; }

    /// <summary>Gets how much was ever added.</summary>
    public long Entered { get; private set; }

    /// <summary>Gets how often a collection may be asked for; <see cref="long.MaxValue"/> where none may be.</summary>
    public long SearchPeriodMilliseconds
    {
        get
        {
            using (_lock.Enter())
            {
                return _shortestSearch;
            }
        }
    }

    /// <summary>Returns when to look next: when the first stay ends, or after one more where only a collection is missing.</summary>
    public long NextLook(long nowMilliseconds)
    {
        using (_lock.Enter())
        {
            return _first is null ? long.MaxValue : _earliestEnd > nowMilliseconds ? _earliestEnd : nowMilliseconds + _shortestStay;
        }
    }

    /// <summary>Adds abandoned memory, with all behind it, for as long as its allocator wants.</summary>
    public void Add(FinalizableGuard guard)
    {
        using (_lock.Enter())
        {
            guard.Stay = (GC.CollectionCount(2), _clock.NowMilliseconds + guard.Context.QuarantineMilliseconds);
            Entered++;
            LinkOrLeave(guard);
        }

        Added?.Invoke();
    }

    /// <summary>Hands back all that has stayed long enough.</summary>
    public void ReleaseExpired()
    {
        int collections = GC.CollectionCount(2);
        long now = _clock.NowMilliseconds;
        FinalizableGuard? guard;
        using (_lock.Enter())
        {
            guard = now >= _earliestEnd ? TakeAll() : null;
        }

        while (guard is not null)
        {
            // Before the guard is another renter's.
            FinalizableGuard? next = guard.NextQuarantined;
            guard.NextQuarantined = null;
            if (collections > guard.Stay.CollectionsWhenAdded && now >= guard.Stay.EndMilliseconds)
            {
                Background.Run(guard);
            }
            else
            {
                using (_lock.Enter())
                {
                    LinkOrLeave(guard);
                }
            }

            guard = next;
        }
    }

    /// <summary>Leaves what is here, and what comes, to one more run of its finalizer: then no list keeps it.</summary>
    public void Close()
    {
        FinalizableGuard? guard;
        using (_lock.Enter())
        {
            _isClosed = true;
            guard = TakeAll();
        }

        while (guard is not null)
        {
            FinalizableGuard? next = guard.NextQuarantined;
            guard.NextQuarantined = null;
            LeaveToFinalizer(guard);
            guard = next;
        }
    }

    private static void LeaveToFinalizer(FinalizableGuard guard)
    {
        try
        {
            GC.ReRegisterForFinalize(guard);
        }
        catch (OutOfMemoryException)
        {
            // Then it goes back at a retry: nothing else knows it.
            Background.Queue(guard);
        }
    }

    // Under the lock, as the next two.
    private FinalizableGuard? TakeAll()
    {
        FinalizableGuard? first = _first;
        _first = null;
        _earliestEnd = _shortestStay = _shortestSearch = long.MaxValue;
        return first;
    }

    private void LinkOrLeave(FinalizableGuard guard)
    {
        // Closed while a tick had the list in hand, or before.
        if (_isClosed)
        {
            LeaveToFinalizer(guard);
        }
        else
        {
            Link(guard);
        }
    }

    private void Link(FinalizableGuard guard)
    {
        long stay = guard.Context.QuarantineMilliseconds;
        _earliestEnd = Math.Min(_earliestEnd, guard.Stay.EndMilliseconds);
        _shortestStay = Math.Min(_shortestStay, stay);
        _shortestSearch = guard.Context.CollectsToFindAbandoned ? Math.Min(_shortestSearch, stay) : _shortestSearch;
        guard.NextQuarantined = _first;
        _first = guard;
    }
}
