using Allocator.Native;

namespace Allocator.Budgeting;

/// <summary>
/// What the process may still take of the memory of its container or machine: the system's figures, less what was granted and is not in
/// them yet. One for all allocators of the process, under one short lock. Thread-safe.
/// </summary>
/// <remarks>
/// Used where memory is committed and where a request is admitted, never where idle memory is rented. One reading takes some calls to the
/// system, and serves for 10 ms, or 1 s where nothing is limited.
/// </remarks>
internal sealed class ProcessHeadroom(SystemMemory source, Clock clock)
{
    private const int FreshMilliseconds = 10;

    // Limits come and go while a process runs.
    private const int FreshWithoutLimitMilliseconds = 1000;

    private readonly ShortLock _lock = new();
    private readonly SystemMemory _source = source;
    private readonly Clock _clock = clock;
    private readonly RecentGrants _recent = new();
    private readonly List<WeakReference<MemoryBudget>> _budgets = [];
    private Headroom _last = Headroom.Unknown;
    private long _readMilliseconds;
    private bool _isRead;
    private bool _isMeasured;
    private bool _isFreed;

    // Granted, and not committed yet.
    private long _inFlight;

    private long _lastAnnouncement;

    // Of managed arrays since the last reading: they have no address, and are used at once.
    private long _arraysSinceRead;

    /// <summary>Gets the one of this process.</summary>
    public static ProcessHeadroom Shared { get; } = new(SystemMemory.Shared, SystemClock.Instance);

    /// <summary>Gets whether there is a limit that the process is killed for.</summary>
    public bool HasHardLimit
    {
        get
        {
            using (_lock.Enter())
            {
                Refresh(FreshWithoutLimitMilliseconds);
                return _last.HasHardLimit;
            }
        }
    }

    /// <summary>Reads what is left, less what was granted and is not used yet.</summary>
    public Headroom Read()
    {
        using (_lock.Enter())
        {
            Refresh(FreshMilliseconds);
            long pending = Pending();
            return _last with { FreeBytes = Less(_last.FreeBytes, pending), CertainBytes = Less(_last.CertainBytes, pending) };
        }
    }

    /// <summary>
    /// Grants memory that is about to be committed; <see cref="Commit"/> or <see cref="Cancel"/> has to follow. Where the request was
    /// admitted before, with what its codec announced, that may be in the figures by now, and is not counted again.
    /// </summary>
    public bool TryGrant(long bytes, long minimumFreeBytes, bool honorsLimit, bool isAdmitted = false)
    {
        using (_lock.Enter())
        {
            bool fits = Fits(bytes, minimumFreeBytes, honorsLimit, isAdmitted);
            if (fits)
            {
                _inFlight += bytes;
            }

            return fits;
        }
    }

    /// <summary>Counts what other code is about to allocate, until it is withdrawn, or has been used and is in the figures.</summary>
    public bool TryAnnounce(long bytes, bool honorsLimit, out long announcement)
    {
        using (_lock.Enter())
        {
            // Not an address.
            announcement = --_lastAnnouncement;
            bool fits = !honorsLimit || Fits(bytes, minimumFreeBytes: 0, honorsLimit, isAdmitted: false);
            if (fits && RemembersGrants)
            {
                _recent.Add(announcement, bytes, _clock.NowMilliseconds);
            }

            return fits;
        }
    }

    public void Withdraw(long announcement) => _recent.Forget(announcement);

    /// <summary>Notes where granted memory is, or a part of it; 0 where the collector has it.</summary>
    public void Commit(nint address, long bytes)
    {
        using (_lock.Enter())
        {
            _inFlight -= bytes;
            if (address == 0)
            {
                _arraysSinceRead += bytes;
            }
            else if (RemembersGrants)
            {
                _recent.Add((long)(nuint)address, bytes, _clock.NowMilliseconds);
            }
        }
    }

    public void Cancel(long bytes)
    {
        using (_lock.Enter())
        {
            _inFlight -= bytes;
        }
    }

    public void Forget(nint address) => _recent.Forget((long)(nuint)address);

    /// <summary>Notes that memory was released: before the next refusal the figures are read anew. Takes no lock.</summary>
    public void NoteFreed() => Volatile.Write(ref _isFreed, true);

    /// <summary>Adds a budget whose claims count: what it has granted, and its allocator has not committed yet.</summary>
    public void Register(MemoryBudget budget)
    {
        using (_lock.Enter())
        {
            _budgets.RemoveAll(static reference => !reference.TryGetTarget(out MemoryBudget? other) || other.IsClosed);
            _budgets.Add(new WeakReference<MemoryBudget>(budget));
        }
    }

    /// <summary>
    /// Admits a request where enough stays free beside it; one may take of that where nothing else is outstanding or reserved in the
    /// process. Counted under the lock, so that a request that is not admitted is never in the way of another.
    /// </summary>
    public bool TryAdmit(MemoryBudget budget, long bytes)
    {
        using (_lock.Enter())
        {
            Refresh(FreshMilliseconds);
            (long admitted, long committed) = ReadClaims();
            bool isAlone = admitted == 0 && bytes <= _last.LimitBytes - budget.MinimumFreeBytes;
            long minimumFree = isAlone ? 0 : budget.MinimumFreeBytes;

            // What allocators have committed is in the figures already, idle memory included, and serves their claims.
            long claimed = admitted + bytes - committed;
            bool fits = FreeBeside(claimed, minimumFree) >= 0;
            if (!fits)
            {
                Measure();
                fits = FreeBeside(claimed, minimumFree) >= 0;
            }

            return fits && budget.TryAdmit(bytes);
        }
    }

    /// <summary>Returns whether no budget has anything outstanding or reserved: nothing would make room by coming back.</summary>
    public bool IsNothingOutstanding()
    {
        using (_lock.Enter())
        {
            return ReadClaims().Admitted == 0;
        }
    }

    // The rest runs under the lock. Whether any request is admitted or refused by what is left, so that grants have to be remembered.
    private bool RemembersGrants => _last.HasHardLimit || _budgets.Count > 0;

    private bool Fits(long bytes, long minimumFreeBytes, bool honorsLimit, bool isAdmitted)
    {
        bool isLimited = _last.HasHardLimit || minimumFreeBytes > 0;
        Refresh(isLimited || !_isRead ? FreshMilliseconds : FreshWithoutLimitMilliseconds);
        if (Room(minimumFreeBytes, honorsLimit, isAdmitted) >= bytes)
        {
            return true;
        }

        Measure();
        return Room(minimumFreeBytes, honorsLimit, isAdmitted) >= bytes;
    }

    private long Room(long minimumFreeBytes, bool honorsLimit, bool isAdmitted)
    {
        long certain = honorsLimit ? _last.CertainBytes : long.MaxValue;
        long free = minimumFreeBytes > 0 ? _last.FreeBytes - minimumFreeBytes : long.MaxValue;
        long room = Math.Min(certain, free);
        return room == long.MaxValue ? room : room - Pending(withAnnounced: !isAdmitted);
    }

    private static long Less(long bytes, long pending) => bytes == long.MaxValue ? bytes : Math.Max(0, bytes - pending);

    private long FreeBeside(long claimedBytes, long minimumFreeBytes) =>
        _last.FreeBytes == long.MaxValue ? 0 : _last.FreeBytes - minimumFreeBytes - Pending() - claimedBytes;

    // Granted, and in no figures yet.
    private long Pending(bool withAnnounced = true) => _inFlight + _arraysSinceRead + _recent.Sum(withAnnounced);

    private void Refresh(int freshMilliseconds)
    {
        long now = _clock.NowMilliseconds;
        if (!_isRead || now - _readMilliseconds >= freshMilliseconds)
        {
            ReadSource(now);
            _isMeasured = false;
        }
    }

    // Before a refusal: figures of now, and which pages are in them. Measured first: what is used in between counts twice, rather than
    // not at all.
    private void Measure()
    {
        long now = _clock.NowMilliseconds;
        if (!_isMeasured || now != _readMilliseconds || Volatile.Read(ref _isFreed))
        {
            Volatile.Write(ref _isFreed, false);
            _recent.Measure(_source, now);
            ReadSource(now);
            _isMeasured = true;
        }
    }

    private void ReadSource(long nowMilliseconds)
    {
        _last = _source.ReadHeadroom();
        _readMilliseconds = nowMilliseconds;
        _arraysSinceRead = 0;
        _isRead = true;
    }

    private (long Admitted, long Committed) ReadClaims()
    {
        long admitted = 0;
        long committed = 0;
        foreach (WeakReference<MemoryBudget> reference in _budgets)
        {
            if (reference.TryGetTarget(out MemoryBudget? budget) && !budget.IsClosed)
            {
                admitted += budget.AdmittedBytes;
                committed += budget.CommittedBytes;
            }
        }

        return (admitted, committed);
    }
}
