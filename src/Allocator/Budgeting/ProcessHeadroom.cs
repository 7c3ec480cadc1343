using Allocator.Native;

namespace Allocator.Budgeting;

/// <summary>
/// What the process may still take of the memory of its container or machine: the system's figures, less what was granted and is not in
/// them yet. One for all allocators of the process. Thread-safe.
/// </summary>
/// <remarks>
/// Used where memory is committed and where a request is admitted, never where idle memory is rented. One reading takes some calls to the
/// system, and serves for 10 ms, or 1 s where nothing is limited. Only requests for memory read, before they enter the short lock of the
/// counts; what returns memory goes by the last reading.
/// </remarks>
internal sealed class ProcessHeadroom(SystemMemory source, Clock clock)
{
    private const int FreshMilliseconds = 10;

    // Limits come and go while a process runs.
    private const int FreshWithoutLimitMilliseconds = 1000;

    private const long Never = long.MinValue / 2;

    // Held while the system is read.
    private readonly ShortLock _reading = new(mayCallSystem: true);
    private readonly SystemMemory _source = source;
    private readonly Clock _clock = clock;
    private readonly RecentGrants _recent = new();
    private WeakReference<MemoryBudget>[] _budgets = [];
    private Headroom _last = Headroom.Unknown;
    private long _readMilliseconds = Never;
    private bool _hasHardLimit;
    private bool _isMeasured;
    private bool _isFreed;
    private int _isRefreshing;

    // Granted, and not committed yet.
    private long _inFlight;

    private long _lastAnnouncement;

    // Of managed arrays since the last reading: they have no address, and are used at once.
    private long _arraysSinceRead;

    /// <summary>Gets the one of this process.</summary>
    public static ProcessHeadroom Shared { get; } = new(SystemMemory.Shared, SystemClock.Instance);

    /// <summary>Gets the lock of the counts. What is admitted is counted under it.</summary>
    public ShortLock Lock { get; } = new();

    /// <summary>Gets whether there is a limit that the process is killed for.</summary>
    public bool HasHardLimit
    {
        get
        {
            Refresh(FreshWithoutLimitMilliseconds);
            return Volatile.Read(ref _hasHardLimit);
        }
    }

    /// <summary>Reads what is left, less what was granted and is not used yet.</summary>
    public Headroom Read()
    {
        Refresh();
        using (Lock.Enter())
        {
            long pending = Pending();
            return _last with { FreeBytes = Less(_last.FreeBytes, pending), CertainBytes = Less(_last.CertainBytes, pending) };
        }
    }

    /// <summary>Reads the system, where that was not done within the last 10 ms. Waits for files: not where memory is returned.</summary>
    public void Refresh() => Refresh(FreshMilliseconds);

    /// <summary>
    /// Reads, before a refusal, the figures of now, and which granted pages are in them. Measured first: what is used in between counts
    /// twice, rather than not at all.
    /// </summary>
    public void Measure()
    {
        using (_reading.Enter())
        {
            long now = _clock.NowMilliseconds;
            if (!_isMeasured || now != _readMilliseconds || Volatile.Read(ref _isFreed))
            {
                Volatile.Write(ref _isFreed, false);
                _recent.Measure(_source, now, Lock);
                ReadSource(now);
                _isMeasured = true;
            }
        }
    }

    /// <summary>
    /// Grants memory that is about to be committed; <see cref="Commit"/> or <see cref="Cancel"/> has to follow. Where the request was
    /// admitted before, with what its codec announced, that may be in the figures by now, and is not counted again.
    /// </summary>
    public bool TryGrant(long bytes, long minimumFreeBytes, bool honorsLimit, bool isAdmitted = false)
    {
        bool isLimited = _hasHardLimit || minimumFreeBytes > 0 || Volatile.Read(ref _readMilliseconds) == Never;
        Refresh(isLimited ? FreshMilliseconds : FreshWithoutLimitMilliseconds);
        if (TryCount())
        {
            return true;
        }

        Measure();
        return TryCount();

        bool TryCount()
        {
            using (Lock.Enter())
            {
                bool fits = bytes <= long.MaxValue - _inFlight && Room(minimumFreeBytes, honorsLimit, isAdmitted) >= bytes;
                _inFlight += fits ? bytes : 0;
                return fits;
            }
        }
    }

    /// <summary>Counts what other code is about to allocate, until it is withdrawn, or has been used and is in the figures.</summary>
    public bool TryAnnounce(long bytes, bool honorsLimit, out long announcement)
    {
        bool fits = TryGrant(bytes, minimumFreeBytes: 0, honorsLimit);
        using (Lock.Enter())
        {
            // Not an address.
            announcement = --_lastAnnouncement;
            if (fits)
            {
                // More than there is cannot be allocated: others must not wait for it.
                bool isAbsurd = bytes > _last.LimitBytes;
                _inFlight -= isAbsurd ? bytes : 0;
                NoteGrant(announcement, isAbsurd ? 0 : bytes);
            }

            return fits;
        }
    }

    public void Withdraw(long announcement) => _recent.Forget(announcement);

    /// <summary>Notes where granted memory is, or a part of it; 0 where the collector has it.</summary>
    public void Commit(nint address, long bytes)
    {
        using (Lock.Enter())
        {
            if (address != 0)
            {
                NoteGrant((long)(nuint)address, bytes);
                return;
            }

            _inFlight -= bytes;
            _arraysSinceRead += bytes;
        }
    }

    public void Cancel(long bytes)
    {
        using (Lock.Enter())
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
        // The first reading is before the first look at it.
        Refresh();
        WeakReference<MemoryBudget> reference = new(budget);
        WeakReference<MemoryBudget>[] seen;
        do
        {
            seen = Volatile.Read(ref _budgets);
        }
        while (Interlocked.CompareExchange(ref _budgets, [.. seen.Where(IsOpen), reference], seen) != seen);

        static bool IsOpen(WeakReference<MemoryBudget> reference) => reference.TryGetTarget(out MemoryBudget? other) && !other.IsClosed;
    }

    /// <summary>
    /// Returns, by the last reading, whether enough stays free beside a request of a budget; one may take of that where nothing else is
    /// outstanding or reserved in the process. What is admitted is counted under the same lock: another request is in the way of none.
    /// </summary>
    public bool Admits(MemoryBudget budget, long bytes)
    {
        Debug.Assert(Lock.IsHeld);
        Debug.Assert(_readMilliseconds != Never, "The system has been read.");
        (long admitted, long committed) = ReadClaims();
        bool isAlone = admitted == 0 && bytes <= _last.LimitBytes - budget.MinimumFreeBytes;
        long minimumFree = isAlone ? 0 : budget.MinimumFreeBytes;

        // What allocators have committed is in the figures already, idle memory included, and serves their claims.
        return _last.FreeBytes == long.MaxValue
            ? bytes < ByteCount.LargestEstimate
            : ByteCount.Add(_last.FreeBytes - minimumFree, -Pending()) >= ByteCount.Add(ByteCount.Add(admitted, bytes), -committed);
    }

    /// <summary>Returns whether no budget has anything outstanding or reserved: nothing would make room by coming back.</summary>
    public bool IsNothingOutstanding() => ReadClaims().Admitted == 0;

    private void Refresh(int freshMilliseconds)
    {
        if (IsFresh(freshMilliseconds))
        {
            return;
        }

        // If another thread reads, the last figures serve: a thread that holds blocks does not wait for a file, or others commit more.
        if (Interlocked.Exchange(ref _isRefreshing, 1) != 0 && Volatile.Read(ref _readMilliseconds) != Never)
        {
            return;
        }

        try
        {
            using (_reading.Enter())
            {
                if (!IsFresh(freshMilliseconds))
                {
                    ReadSource(_clock.NowMilliseconds);
                    _isMeasured = false;
                }
            }
        }
        finally
        {
            Volatile.Write(ref _isRefreshing, 0);
        }
    }

    private bool IsFresh(int milliseconds) => _clock.NowMilliseconds - Volatile.Read(ref _readMilliseconds) < milliseconds;

    private void ReadSource(long nowMilliseconds)
    {
        // What is made meanwhile may be in the figures or not, and counts.
        long arrays = Volatile.Read(ref _arraysSinceRead);
        Headroom read = _source.ReadHeadroom();
        using (Lock.Enter())
        {
            _last = read;
            _arraysSinceRead -= arrays;
            Volatile.Write(ref _hasHardLimit, read.HasHardLimit);
            Volatile.Write(ref _readMilliseconds, nowMilliseconds);
        }
    }

    // Under the lock. Where no request is admitted or refused by what is left, grants need not be remembered.
    private void NoteGrant(long address, long bytes)
    {
        _inFlight -= bytes;
        if (_hasHardLimit || _budgets.Length > 0)
        {
            _recent.Add(address, bytes, _clock.NowMilliseconds);
        }
    }

    private long Room(long minimumFreeBytes, bool honorsLimit, bool isAdmitted)
    {
        long certain = honorsLimit ? _last.CertainBytes : long.MaxValue;
        long free = minimumFreeBytes > 0 ? _last.FreeBytes - minimumFreeBytes : long.MaxValue;
        long room = Math.Min(certain, free);
        return room == long.MaxValue ? room : ByteCount.Add(room, -Pending(withAnnounced: !isAdmitted));
    }

    private static long Less(long bytes, long pending) => bytes == long.MaxValue ? bytes : Math.Max(0, bytes - pending);

    // Granted, and in no figures yet. Under the lock.
    private long Pending(bool withAnnounced = true)
    {
        Debug.Assert(Lock.IsHeld);
        return ByteCount.Add(ByteCount.Add(_inFlight, _arraysSinceRead), _recent.Sum(withAnnounced));
    }

    private (long Admitted, long Committed) ReadClaims()
    {
        long admitted = 0;
        long committed = 0;
        foreach (WeakReference<MemoryBudget> reference in Volatile.Read(ref _budgets))
        {
            if (reference.TryGetTarget(out MemoryBudget? budget) && !budget.IsClosed)
            {
                admitted = ByteCount.Add(admitted, budget.AdmittedBytes);
                committed += budget.CommittedBytes;
            }
        }

        return (admitted, committed);
    }
}
