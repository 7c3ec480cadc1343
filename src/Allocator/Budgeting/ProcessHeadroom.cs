using Allocator.Native;

namespace Allocator.Budgeting;

/// <summary>
/// The memory of the container or machine that the process may still take. It uses the system's figures, less the memory being populated
/// just now, and the library's own sums, which need no figures. One for all allocators of the process. Thread-safe.
/// </summary>
/// <remarks>
/// If a control group's limit holds, granted memory is made resident before its rent begins, so the next reading contains it. Used when
/// memory is committed and when a request is admitted, never when idle memory is rented. One reading takes some system calls, and serves
/// for 10 ms, or for 1 s if nothing is limited. Only requests for memory read the system, before they enter the short lock of the counts.
/// Returns of memory use the last reading.
/// </remarks>
internal sealed class ProcessHeadroom(SystemMemory source, Clock clock) : IBackgroundWork
{
    private const int FreshMilliseconds = 10;

    private const int FreshWithoutLimitMilliseconds = 1000;

    // Memory that codecs announce is used within some time, not at once. After two more readings this far apart, the figures contain it.
    private const int AnnouncementMilliseconds = 1000;

    // What the runtime takes as it compiles code that writes what was granted. With 4 MiB, 3 of 70 full containers were killed.
    private const long RuntimeSlackInBytes = 12 * 1024 * 1024;

    private const long Never = long.MinValue / 2;

    // Held while the system is read.
    private readonly ShortLock _reading = new(mayCallSystem: true, mayAllocate: true);
    private readonly long[] _announcedRecently = new long[2];
    private Headroom _last = Headroom.Unknown;
    private long _readMilliseconds = Never;
    private bool _isFreed;
    private int _isRefreshing;

    // Granted but not committed yet: being populated.
    private long _inFlight;

    // Committed since the last reading began; that reading may not contain it.
    private long _sinceRead;

    // The part of the granted bytes that the last reading contains.
    private long _grantedWhenRead;

    // Committed and not released, idle memory included.
    private long _granted;

    private long _announced;
    private long _announcementPeriod;
    private long _announcementPeriodBegan;
    private BackgroundState _work;

    public static ProcessHeadroom Shared { get; } = new(SystemMemory.Shared, SystemClock.Instance);

    /// <summary>Gets the lock of the counts. Admitted bytes are counted under it.</summary>
    public ShortLock Lock => Running.Lock;

    /// <summary>Gets the jobs of all budgets that share this memory.</summary>
    public RunningJobs Running { get; } = new(new ShortLock());

    /// <summary>Gets the order in which the budgets take from it.</summary>
    public ContainerLine Line { get; } = new();

    /// <summary>Gets whether the last reading has a limit that counts resident memory.</summary>
    public bool IsLimited => _last.LimitsResident;

    /// <summary>Gets the limits, which come and go while a process runs. The figures are up to a second old.</summary>
    public Headroom Limits
    {
        get
        {
            Refresh(FreshWithoutLimitMilliseconds);
            using ShortLock.Section section = Lock.Enter();
            return _last;
        }
    }

    ref BackgroundState IBackgroundWork.State => ref _work;

    void IBackgroundWork.DoWork()
    {
        Measure();
        Sample();
    }

    /// <summary>Reads the container again soon, as long as jobs run whose use elsewhere is to be learned.</summary>
    public void Sample()
    {
        int period;
        using (Lock.Enter())
        {
            period = IsLimited ? Running.ReadingPeriod(clock.NowMilliseconds) : 0;
        }

        if (period > 0)
        {
            clock.RunBy(this, clock.NowMilliseconds + period);
        }
    }

    /// <summary>Reads the free memory, less granted memory that is not in the figures yet.</summary>
    public Headroom Read()
    {
        Refresh();
        using ShortLock.Section section = Lock.Enter();
        long certain = Math.Max(0, Certain(isAdmitted: false));
        long free = _last.FreeBytes == long.MaxValue ? long.MaxValue : Math.Max(0, _last.FreeBytes - Pending());
        return _last with { FreeBytes = free, CertainBytes = certain };
    }

    /// <summary>Reads the current figures before a refusal.</summary>
    public void Measure()
    {
        using ShortLock.Section section = _reading.Enter();
        long now = clock.NowMilliseconds;
        if (now != _readMilliseconds || Volatile.Read(ref _isFreed))
        {
            Volatile.Write(ref _isFreed, false);
            ReadSource(now);
        }
    }

    /// <summary>Reads what is used beside jobs, right after malloc was trimmed. Does nothing more than read if a job runs.</summary>
    public void ReadBase()
    {
        using ShortLock.Section section = _reading.Enter();
        ReadSource(clock.NowMilliseconds, isSettled: true);
    }

    /// <summary>
    /// Grants memory that is about to be committed. <see cref="EndGrant"/> must follow. If the request was admitted before, with memory
    /// that its codec announced, the figures may contain that by now, and it is not counted again.
    /// </summary>
    /// <remarks>Populating more than the limit leaves ends the process. Only this check prevents that, so it also counts.</remarks>
    public bool TryGrant(long bytes, long minimumFreeBytes, bool honorsLimit, bool isAdmitted = false)
    {
        bool isLimited = _last.HasHardLimit || minimumFreeBytes > 0 || Volatile.Read(ref _readMilliseconds) == Never;
        Refresh(isLimited ? FreshMilliseconds : FreshWithoutLimitMilliseconds);

        // If little would be left, current figures decide: the collector and native code take memory too.
        if (TryCount(restDivisor: 16))
        {
            return true;
        }

        Measure();
        return TryCount(restDivisor: long.MaxValue);

        bool TryCount(long restDivisor)
        {
            using ShortLock.Section section = Lock.Enter();
            long certain = honorsLimit ? Certain(isAdmitted) : long.MaxValue;
            long room = minimumFreeBytes == 0 || _last.FreeBytes == long.MaxValue
                ? certain
                : Math.Min(certain, ByteCount.Add(_last.FreeBytes - minimumFreeBytes, -Pending(withAnnounced: !isAdmitted)));
            bool fits = bytes <= long.MaxValue - _inFlight
                && (room == long.MaxValue || ByteCount.Add(room, -_last.LimitBytes / restDivisor) >= bytes);
            _inFlight += fits ? bytes : 0;
            return fits;
        }
    }

    /// <summary>
    /// Counts memory that other code is about to allocate, until it is withdrawn. It is subtracted from the figures until two more
    /// readings are done: by then it has been used, and the figures contain it.
    /// </summary>
    public bool TryAnnounce(long bytes, bool honorsLimit, out (long Bytes, long Period) announcement)
    {
        bool fits = TryGrant(bytes, minimumFreeBytes: 0, honorsLimit);
        using ShortLock.Section section = Lock.Enter();
        // More than exists cannot be allocated: others must not wait for it.
        announcement = (fits && bytes <= _last.LimitBytes ? bytes : 0, _announcementPeriod);
        _inFlight -= fits ? bytes : 0;
        CountAnnounced(announcement.Bytes, announcement.Period);
        return fits;
    }

    public void Withdraw((long Bytes, long Period) announcement)
    {
        using ShortLock.Section section = Lock.Enter();
        CountAnnounced(-announcement.Bytes, announcement.Period);
    }

    /// <summary>Ends a grant, or a part of it. The next reading contains the part that was taken.</summary>
    public void EndGrant(long bytes, long committedBytes)
    {
        using ShortLock.Section section = Lock.Enter();
        _inFlight -= bytes;
        _sinceRead += committedBytes;
        _granted += committedBytes;
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

    /// <summary>Adds a budget whose claims count: bytes it has granted that its allocator has not committed yet.</summary>
    public void Register(MemoryBudget budget)
    {
        // The first reading must be done before the budget first uses it.
        Refresh();
        using ShortLock.Section section = _reading.Enter();
        Line.Add(budget);
    }

    /// <summary>
    /// Returns, by the last reading, whether enough stays free beside a request of a budget. If nothing else is outstanding or reserved in
    /// the process, a request may use the part to be kept free. Admitted bytes are counted under the same lock, so requests do not get in
    /// each other's way.
    /// </summary>
    /// <param name="budget">The budget.</param>
    /// <param name="bytes">What it asks for.</param>
    /// <param name="minimumFreeBytes">What has to stay free, if anything else is outstanding.</param>
    /// <param name="elsewhereBytes">What has to be free beside it in any case: for a job's use elsewhere, and for surprises.</param>
    public bool Admits(MemoryBudget budget, long bytes, long minimumFreeBytes, long elsewhereBytes = 0)
    {
        Debug.Assert(Lock.IsHeld);
        Debug.Assert(_readMilliseconds != Never, "The system has been read.");
        (long admitted, long committed) = ReadClaims(budget);
        if (_last.FreeBytes == long.MaxValue)
        {
            return bytes < ByteCount.LargestEstimate;
        }

        long minimumFree = admitted == 0 ? 0 : minimumFreeBytes;
        long limit = minimumFreeBytes > 0 ? _last.LimitBytes : _last.UsableBytes;

        // The sums decide alone here, because no figure contains memory that was reserved and not used.
        return bytes <= ByteCount.Add(_last.LimitBytes - minimumFreeBytes, -admitted)
            && ByteCount.Add(limit - minimumFree - elsewhereBytes, -Others(committed)) >= ByteCount.Add(admitted, bytes);
    }

    /// <summary>Returns whether other code can take these bytes now, beyond what running jobs have claimed and not taken yet.</summary>
    public bool IsFree(long bytes)
    {
        Debug.Assert(Lock.IsHeld);
        long free = _last.FreeBytes - Math.Max(0, _last.LimitBytes - _last.HardBytes);
        return free - Pending() - Running.UnusedElsewhereBytes >= bytes;
    }

    /// <summary>Returns, by the last reading, how much is left for jobs beside all that is outstanding or claimed.</summary>
    public long LeftForJobs(MemoryBudget budget)
    {
        Debug.Assert(Lock.IsHeld);
        (long admitted, long committed) = ReadClaims(budget);
        return _last.FreeBytes == long.MaxValue
            ? long.MaxValue
            : Math.Max(0, ByteCount.Add(LimitForJobs - Others(committed), -admitted));
    }

    /// <summary>Gets what all jobs and all that runs beside them can have. Under the lock.</summary>
    public long LimitForJobs => _last.UsableBytes;

    /// <summary>Gets what is outstanding or reserved in all budgets that share this memory.</summary>
    public long AdmittedBytes => ReadClaims().Admitted;

    /// <summary>Reads the system, unless that was done a short time ago. Waits for files, so returns do not call it.</summary>
    public void Refresh(int freshMilliseconds = FreshMilliseconds)
    {
        if (IsFresh(freshMilliseconds))
        {
            return;
        }

        // If another thread reads, use the last figures: a thread that holds blocks must not wait for a file, or others commit more.
        if (Interlocked.Exchange(ref _isRefreshing, 1) != 0 && Volatile.Read(ref _readMilliseconds) != Never)
        {
            return;
        }

        try
        {
            using ShortLock.Section section = _reading.Enter();
            if (!IsFresh(freshMilliseconds))
            {
                ReadSource(clock.NowMilliseconds);
            }
        }
        finally
        {
            Volatile.Write(ref _isRefreshing, 0);
        }
    }

    private bool IsFresh(int milliseconds) => clock.NowMilliseconds - Volatile.Read(ref _readMilliseconds) < milliseconds;

    private void ReadSource(long nowMilliseconds, bool isSettled = false)
    {
        // The figures may or may not contain memory committed meanwhile, so it counts.
        long committed = Volatile.Read(ref _sinceRead);
        long ofLibrary = OfLibrary();
        Headroom read = source.ReadHeadroom();
        long garbage = read.LimitsResident ? source.ReadGarbage() : 0;
        if (read.LimitsResident)
        {
            // Page tables take 0.2 % of the memory that they map. No request counts them.
            long slack = (read.HardBytes / 200) + Math.Min(RuntimeSlackInBytes, read.HardBytes / 16);
            read = read with { CertainBytes = read.CertainBytes - slack, HardBytes = read.HardBytes - slack };
        }

        using ShortLock.Section section = Lock.Enter();
        _last = read;
        Volatile.Write(ref _readMilliseconds, nowMilliseconds);
        if (read.IsOld)
        {
            // What was committed since then, less what was released, is not in these figures.
            _sinceRead = Math.Max(0, _granted - _grantedWhenRead);
            return;
        }

        _sinceRead -= committed;
        _grantedWhenRead = _granted - _sinceRead;
        if (read.LimitsResident)
        {
            // Memory may have been granted or released while the files were read.
            long others = read.LimitBytes - read.FreeBytes - Math.Max(ofLibrary, OfLibrary());
            Running.Observe(others, garbage, isSettled, nowMilliseconds);
        }

        if (nowMilliseconds - _announcementPeriodBegan >= AnnouncementMilliseconds)
        {
            _announcementPeriodBegan = nowMilliseconds;
            _announcedRecently[++_announcementPeriod & 1] = 0;
        }
    }

    // What the library holds or is about to hold, and what was announced to it.
    private long OfLibrary()
    {
        using ShortLock.Section section = Lock.Enter();
        return _granted + _inFlight + _announced;
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

    // The bytes that can certainly be taken: by the figures, less what jobs may still take elsewhere, and by the sums of granted and
    // announced bytes.
    private long Certain(bool isAdmitted)
    {
        long bySums = _last.LimitsResident ? _last.HardBytes - _granted - _inFlight - (isAdmitted ? 0 : _announced) : long.MaxValue;
        long ofJobs = IsLimited ? Running.UnusedElsewhereBytes : 0;
        return _last.HasHardLimit ? Math.Min(bySums, _last.CertainBytes - Pending(withAnnounced: !isAdmitted) - ofJobs) : bySums;
    }

    // What the container uses beside the memory of the library, or will if all jobs take their claims. Under the lock.
    private long Others(long committed)
    {
        long others = _last.LimitBytes - _last.FreeBytes + Pending() - ResidentOf(committed);
        return IsLimited ? Running.ElsewhereBytes(others) : others;
    }

    // Granted, and perhaps not in the figures yet. Under the lock.
    private long Pending(bool withAnnounced = true)
    {
        Debug.Assert(Lock.IsHeld);
        return _inFlight + _sinceRead + (withAnnounced ? _announcedRecently[0] + _announcedRecently[1] : 0);
    }

    // Only the rented part of a block is granted and becomes resident. Announced memory is committed without a grant.
    private long ResidentOf(long committed)
    {
        Debug.Assert(Lock.IsHeld);
        return _last.LimitsResident ? Math.Min(committed, _granted + _announced) : committed;
    }

    private (long Admitted, long Committed) ReadClaims(MemoryBudget? asker = null)
    {
        long admitted = 0;
        long committed = 0;
        foreach (WeakReference<MemoryBudget> reference in Line.Budgets)
        {
            if (reference.TryGetTarget(out MemoryBudget? budget) && budget.IsOfInterest)
            {
                long claimed = ByteCount.Add(budget.AdmittedBytes, Math.Min(budget.UncountedBytes, budget.CommittedBytes));
                admitted = ByteCount.Add(admitted, claimed);

                // Where only reservations are counted, what is outstanding beside them was read when it last asked.
                committed += budget.IsCounted || budget == asker ? budget.CommittedBytes : Math.Min(budget.CommittedBytes, claimed);
            }
        }

        return (admitted, committed);
    }
}
