using Allocator.Native;

namespace Allocator.Budgeting;

/// <summary>
/// What the process may still take of the memory of its container or machine: the system's figures, less what is being populated just
/// now, and by sums of its own, which need no figure. One for all allocators of the process. Thread-safe.
/// </summary>
/// <remarks>
/// Where a control group's limit holds, granted memory is made resident before its rent begins, so the next reading contains it.
/// Used where memory is committed and where a request is admitted, never where idle memory is rented. One reading takes some calls to the
/// system, and serves for 10 ms, or 1 s where nothing is limited. Only requests for memory read, before they enter the short lock of the
/// counts; what returns memory goes by the last reading.
/// </remarks>
internal sealed class ProcessHeadroom(SystemMemory source, Clock clock)
{
    private const int FreshMilliseconds = 10;

    private const int FreshWithoutLimitMilliseconds = 1000;

    // What codecs announce is used within some time, not at once. The figures contain it two readings later that are so far apart.
    private const int AnnouncementMilliseconds = 1000;

    private const long LeastSlackInBytes = 1024 * 1024;

    private const long Never = long.MinValue / 2;

    // Held while the system is read.
    private readonly ShortLock _reading = new(mayCallSystem: true, mayAllocate: true);
    private readonly SystemMemory _source = source;
    private readonly Clock _clock = clock;
    private readonly long[] _announcedRecently = new long[2];
    private WeakReference<MemoryBudget>[] _budgets = [];
    private Headroom _last = Headroom.Unknown;
    private long _readMilliseconds = Never;
    private bool _isFreed;
    private int _isRefreshing;

    // Granted, and not committed yet: being populated.
    private long _inFlight;

    // Committed since the last reading began, which may not contain it.
    private long _sinceRead;

    // Committed and not released, idle memory included.
    private long _granted;

    private long _announced;
    private long _announcementPeriod;
    private long _announcementPeriodBegan;

    /// <summary>Gets the one of this process.</summary>
    public static ProcessHeadroom Shared { get; } = new(SystemMemory.Shared, SystemClock.Instance);

    /// <summary>Gets the lock of the counts. What is admitted is counted under it.</summary>
    public ShortLock Lock { get; } = new();

    /// <summary>Gets the limits, which come and go while a process runs. Its figures are up to a second old.</summary>
    public Headroom Limits
    {
        get
        {
            Refresh(FreshWithoutLimitMilliseconds);
            using (Lock.Enter())
            {
                return _last;
            }
        }
    }

    /// <summary>Reads what is left, less what was granted and is not in the figures yet.</summary>
    public Headroom Read()
    {
        Refresh();
        using (Lock.Enter())
        {
            long certain = Math.Max(0, Certain(isAdmitted: false));
            return _last with { FreeBytes = Less(_last.FreeBytes, Pending()), CertainBytes = certain };
        }
    }

    /// <summary>Reads the system, where that was not done within the last 10 ms. Waits for files: not where memory is returned.</summary>
    public void Refresh() => Refresh(FreshMilliseconds);

    /// <summary>Reads, before a refusal, the figures of now.</summary>
    public void Measure()
    {
        using (_reading.Enter())
        {
            long now = _clock.NowMilliseconds;
            if (now != _readMilliseconds || Volatile.Read(ref _isFreed))
            {
                Volatile.Write(ref _isFreed, false);
                ReadSource(now);
            }
        }
    }

    /// <summary>
    /// Grants memory that is about to be committed; <see cref="EndGrant"/> has to follow. If the request was
    /// admitted before, with what its codec announced, that may be in the figures by now, and is not counted again.
    /// </summary>
    /// <remarks>To populate more than the limit leaves ends the process. Only this check prevents it: so it counts, too.</remarks>
    public bool TryGrant(long bytes, long minimumFreeBytes, bool honorsLimit, bool isAdmitted = false)
    {
        bool isLimited = _last.HasHardLimit || minimumFreeBytes > 0 || Volatile.Read(ref _readMilliseconds) == Never;
        Refresh(isLimited ? FreshMilliseconds : FreshWithoutLimitMilliseconds);

        // If little would be left the figures of now decide: the collector and native code take memory too.
        if (TryCount(restDivisor: 16))
        {
            return true;
        }

        Measure();
        return TryCount(restDivisor: long.MaxValue);

        bool TryCount(long restDivisor)
        {
            using (Lock.Enter())
            {
                long room = Room(minimumFreeBytes, honorsLimit, isAdmitted);
                bool fits = bytes <= long.MaxValue - _inFlight
                    && (room == long.MaxValue || ByteCount.Add(room, -_last.LimitBytes / restDivisor) >= bytes);
                _inFlight += fits ? bytes : 0;
                return fits;
            }
        }
    }

    /// <summary>
    /// Counts what other code is about to allocate, until it is withdrawn. By the figures it counts until two readings after it: then it
    /// has been used, and is in them.
    /// </summary>
    public bool TryAnnounce(long bytes, bool honorsLimit, out (long Bytes, long Period) announcement)
    {
        bool fits = TryGrant(bytes, minimumFreeBytes: 0, honorsLimit);
        using (Lock.Enter())
        {
            // More than there is cannot be allocated: others must not wait for it.
            announcement = (fits && bytes <= _last.LimitBytes ? bytes : 0, _announcementPeriod);
            _inFlight -= fits ? bytes : 0;
            CountAnnounced(announcement.Bytes, announcement.Period);
            return fits;
        }
    }

    public void Withdraw((long Bytes, long Period) announcement)
    {
        using (Lock.Enter())
        {
            CountAnnounced(-announcement.Bytes, announcement.Period);
        }
    }

    /// <summary>Ends a grant, or a part of it: what was taken of it is in the next reading.</summary>
    public void EndGrant(long bytes, long committedBytes)
    {
        using (Lock.Enter())
        {
            _inFlight -= bytes;
            _sinceRead += committedBytes;
            _granted += committedBytes;
        }
    }

    /// <summary>Notes that committed memory has gone back: before the next refusal the figures are read anew.</summary>
    public void Release(long bytes)
    {
        using (Lock.Enter())
        {
            _granted -= bytes;
            Debug.Assert(_granted >= 0, "No more goes back than was granted.");
        }

        NoteFreed();
    }

    /// <summary>Notes that memory was released: before the next refusal the figures are read anew. Takes no lock.</summary>
    public void NoteFreed() => Volatile.Write(ref _isFreed, true);

    /// <summary>Adds a budget whose claims count: what it has granted, and its allocator has not committed yet.</summary>
    public void Register(MemoryBudget budget)
    {
        // The first reading is before the first look at it.
        Refresh();
        using (_reading.Enter())
        {
            Volatile.Write(ref _budgets, [.. _budgets.Where(IsOpen), new WeakReference<MemoryBudget>(budget)]);
        }

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

        // By the sums alone: what was reserved long ago is in no figure, however old it is.
        if (bytes > ByteCount.Add(_last.LimitBytes - budget.MinimumFreeBytes, -admitted))
        {
            return false;
        }

        long minimumFree = admitted == 0 ? 0 : budget.MinimumFreeBytes;

        // What allocators have committed is in the figures already, idle memory included, and serves their claims.
        return _last.FreeBytes == long.MaxValue
            ? bytes < ByteCount.LargestEstimate
            : ByteCount.Add(_last.FreeBytes - minimumFree, -Pending()) >= ByteCount.Add(ByteCount.Add(admitted, bytes), -committed);
    }

    /// <summary>
    /// Returns, by the last reading, what a budget's requests could have if no other were outstanding; <see cref="long.MaxValue"/> if
    /// nothing limits them.
    /// </summary>
    public long RoomFor(MemoryBudget budget)
    {
        using (Lock.Enter())
        {
            return _last.FreeBytes == long.MaxValue
                ? long.MaxValue
                : Math.Max(0, _last.FreeBytes - budget.MinimumFreeBytes - Pending() + ReadClaims().Committed);
        }
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
        // What is committed meanwhile may be in the figures or not, and counts.
        long committed = Volatile.Read(ref _sinceRead);
        Headroom read = _source.ReadHeadroom();
        if (read.LimitsResident)
        {
            // Page tables take 0.2 % of what they map, and no request counts them.
            long slack = Math.Max(read.HardBytes / 200, LeastSlackInBytes);
            read = read with { CertainBytes = read.CertainBytes - slack, HardBytes = read.HardBytes - slack };
        }

        using (Lock.Enter())
        {
            _last = read;
            _sinceRead -= committed;
            Volatile.Write(ref _readMilliseconds, nowMilliseconds);
            if (nowMilliseconds - _announcementPeriodBegan >= AnnouncementMilliseconds)
            {
                _announcementPeriodBegan = nowMilliseconds;
                _announcedRecently[++_announcementPeriod & 1] = 0;
            }
        }
    }

    private void CountAnnounced(long bytes, long period)
    {
        Debug.Assert(Lock.IsHeld);
        _announced += bytes;
        if (_announcementPeriod - period < 2)
        {
            _announcedRecently[period & 1] += bytes;
        }
    }

    private long Room(long minimumFreeBytes, bool honorsLimit, bool isAdmitted)
    {
        long certain = honorsLimit ? Certain(isAdmitted) : long.MaxValue;
        return minimumFreeBytes == 0 || _last.FreeBytes == long.MaxValue
            ? certain
            : Math.Min(certain, ByteCount.Add(_last.FreeBytes - minimumFreeBytes, -Pending(withAnnounced: !isAdmitted)));
    }

    // What can be taken for sure: by the figures, and by the sums of what was granted and announced.
    private long Certain(bool isAdmitted)
    {
        long bySums = _last.LimitsResident ? _last.HardBytes - _granted - _inFlight - (isAdmitted ? 0 : _announced) : long.MaxValue;
        return _last.HasHardLimit ? Math.Min(bySums, _last.CertainBytes - Pending(withAnnounced: !isAdmitted)) : bySums;
    }

    private static long Less(long bytes, long pending) => bytes == long.MaxValue ? bytes : Math.Max(0, bytes - pending);

    // Granted, and perhaps in no figures yet. Under the lock.
    private long Pending(bool withAnnounced = true)
    {
        Debug.Assert(Lock.IsHeld);
        return _inFlight + _sinceRead + (withAnnounced ? _announcedRecently[0] + _announcedRecently[1] : 0);
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
