using Allocator.Native;

namespace Allocator.Budgeting;

/// <summary>
/// The memory that one allocator may have, as two numbers. <see cref="AdmittedBytes"/> is what may be outstanding: the capacity of all
/// memory that is rented or abandoned, and the unused part of reservations. <see cref="CommittedBytes"/> is the memory from the system and
/// the arrays, idle memory included. One interlocked operation changes each for a whole request, so that no request holds a part of its
/// memory while it waits for the rest, and neither number ever exceeds the limit. If an admitted request cannot commit, as much memory is
/// idle, or is being trimmed by another thread.
/// </summary>
[DebuggerDisplay("{AdmittedBytes} admitted, {CommittedBytes} committed of {LimitInBytes}, waiters: {HasWaiters}")]
internal sealed class MemoryBudget : BudgetAccount, IBackgroundWork
{
    private const int LookAgainMilliseconds = 10;

    private readonly Clock _clock;
    private readonly RunningJobs _running = new(new ShortLock());
    private readonly BudgetQueue _queue;
    private long _admittedBytes;
    private long _committedBytes;
    private long _uncountedBytes;
    private bool _lacksFreeMemory;
    private long _placeInLine;
    private int _waiters;
    private int _waitersOfReservations;
    private bool _mayRefuse;
    private int _isRefusing;
    private int _isRegistered;
    private bool _isMeasured;
    private int _closed;
    private BackgroundState _work;
    private readonly LongWork _makingRoom;
    private readonly LongWork _baseReading;

    /// <summary>Makes a budget. Growth that only memory outside of reservations can serve waits for the timeout, at least 5 s.</summary>
    public MemoryBudget(long limitInBytes = long.MaxValue, Clock? clock = null, TimeSpan timeout = default)
        : base(null)
    {
        LimitInBytes = limitInBytes;
        _clock = clock ?? SystemClock.Instance;
        _queue = new BudgetQueue(this, _clock, timeout);
        _makingRoom = new LongWork(MakeRoom);
        _baseReading = new LongWork(ReadBase);
    }

    public long LimitInBytes { get; }

    /// <summary>Gets the container's free memory. Null if it is not consulted.</summary>
    public ProcessHeadroom? Headroom
    {
        get;
        init
        {
            field = value;
            _running = value?.Running ?? _running;
        }
    }

    /// <summary>Gets whether jobs are admitted by what the container shows, and waiting requests look at it.</summary>
    public bool WatchesContainer => Headroom is not null && (KeepsMinimumFree || Headroom.IsLimited);

    public long MinimumFreeBytes { get; init; }

    /// <summary>Gets whether memory is refused that the container certainly has no room for.</summary>
    public bool HonorsLimit { get; init; }

    /// <summary>Gets the callback that makes room if nothing is outstanding and there still is none. May block.</summary>
    public Action? BeforeRefusal { get; init; }

    /// <summary>Gets or sets the callback that releases all idle memory, for jobs that take memory elsewhere. May block.</summary>
    public Action? ReleaseIdle { get; init; }

    /// <summary>
    /// Gets the callback that makes malloc release what is free in it: once a second, or with true whenever the last time was short. May
    /// block.
    /// </summary>
    public Action<bool>? TrimHeap { get; init; }

    /// <summary>Gets the callback that collects garbage, at most 5 % of the time. Blocks.</summary>
    public Action? Collect { get; init; }

    /// <summary>Gets or sets the callback that reads how much memory is idle, where requests are not counted.</summary>
    public Func<long>? ReadIdleBytes { get; set; }

    /// <summary>Gets whether all requests must be admitted. Otherwise only reservations are, and the container may refuse.</summary>
    public bool IsCounted => LimitInBytes != long.MaxValue || MinimumFreeBytes > 0;

    public bool KeepsMinimumFree => MinimumFreeBytes > 0;

    /// <summary>Gets whether a full container may refuse waiting requests now, because everything else was tried.</summary>
    public bool MayRefuse => Volatile.Read(ref _mayRefuse);

    /// <summary>Gets whether growth may fail now. Old figures show memory as used that codecs have freed since.</summary>
    public bool MayFailGrowth => !KeepsMinimumFree || Volatile.Read(ref _isMeasured) || MayRefuse;

    public LearnedJobs Jobs { get; } = new();

    public long AdmittedBytes => Volatile.Read(ref _admittedBytes);

    /// <summary>Gets what may come back and make room: in a container also the outstanding memory of other allocators.</summary>
    public long OutstandingBytes => KeepsMinimumFree ? Math.Max(AdmittedBytes, Headroom!.AdmittedBytes) : AdmittedBytes;

    public long CommittedBytes => Volatile.Read(ref _committedBytes);

    /// <summary>Gets what is outstanding and was not admitted, because only reservations are. As of the last look.</summary>
    public long UncountedBytes => Volatile.Read(ref _uncountedBytes);

    /// <summary>Gets or sets the part of the admitted bytes charged to open reservations. Under the lock.</summary>
    public long ReservedBytes
    {
        get;
        set
        {
            Debug.Assert(Lock.IsHeld && value >= 0);
            field = value;
        }
    }

    /// <summary>Gets or sets whether growth has to fail unless room is made for it. Set under the lock.</summary>
    public bool IsStuck { get; set; }

    public int Waiters => Volatile.Read(ref _waiters);

    public bool HasWaiters => Waiters != 0;

    /// <summary>Gets whether a reservation asks for more than it has left.</summary>
    public bool HasWaitersOfReservations => Volatile.Read(ref _waitersOfReservations) != 0;

    public override ShortLock Lock => _queue.Lock;

    public override ReservationAccount? OutermostReservation => null;

    public override bool IsClosed => Volatile.Read(ref _closed) != 0;

    /// <summary>Gets whether its memory counts for others: also what is still outstanding once it is closed.</summary>
    public bool IsOfInterest => !IsClosed || CommittedBytes > 0;

    ref BackgroundState IBackgroundWork.State => ref _work;

    private long LimitForJobs => Math.Min(LimitInBytes, WatchesContainer ? Headroom!.LimitForJobs : long.MaxValue);

    void IBackgroundWork.DoWork()
    {
        try
        {
            Look();
            FreeForJobs();
            if (WatchesContainer)
            {
                BackgroundThread.RunLong(_makingRoom);
            }
        }
        finally
        {
            Watch();
        }
    }

    /// <summary>Adds to a counter with an upper bound. Never overshoots, so a large request cannot make a small one fail.</summary>
    public static bool TryAdd(ref long sum, long bytes, long limit)
    {
        for (long now = Volatile.Read(ref sum), seen; bytes <= limit - now; now = seen)
        {
            seen = Interlocked.CompareExchange(ref sum, now + bytes, now);
            if (seen == now)
            {
                return true;
            }
        }

        return false;
    }

    public override bool TryTake(long bytes, bool overtakes) => TryTake(bytes, overtakes, keepsMinimumFree: true);

    /// <summary>Takes bytes for the growth of a job, for which nothing has to stay free. Under the lock.</summary>
    public bool TryGrow(long bytes, bool overtakes) => TryTake(bytes, overtakes, keepsMinimumFree: false);

    /// <summary>Begins a job if its claim fits beside those of all running jobs, with room kept for a surprise. Under the lock.</summary>
    /// <param name="job">The job. It has its claim afterwards, or the one that did not fit.</param>
    /// <param name="overtakes">Whether waiting requests may be overtaken.</param>
    public bool TryBegin(RunningJob job, bool overtakes)
    {
        Debug.Assert(Lock.IsHeld);
        if (!overtakes && HasWaiters)
        {
            return false;
        }

        using ShortLock.Section section = _running.Lock.Enter();
        bool watches = WatchesContainer;
        JobClaim? known = job.FindClaim();
        long left = Math.Min(LimitInBytes - AdmittedBytes, watches ? Headroom!.LeftForJobs(this) : long.MaxValue);
        JobClaim claim = known ?? new JobClaim(left >= ByteCount.LargestEstimate ? 0 : left / 2, 0);
        long now = _clock.NowMilliseconds;
        if (job.Learned is not null)
        {
            // The first that runs may be larger than any before, and larger than there is room for. So may one beside jobs that have run
            // for long: a stream would keep it, and all that wait behind it, from ever running.
            bool fitsNever = claim.TotalBytes > LimitForJobs;
            bool getsWhatIsLeft = _running.Count == 0 || (fitsNever && !_running.IsAnyYoung(now));
            long allocated = getsWhatIsLeft ? Math.Min(claim.AllocatedBytes, left) : claim.AllocatedBytes;
            allocated = Math.Max(allocated, LearnedSize.Granularity);
            long elsewhere = getsWhatIsLeft ? Math.Max(0, Math.Min(claim.ElsewhereBytes, left - allocated)) : claim.ElsewhereBytes;
            claim = new JobClaim(allocated, elsewhere);
        }

        job.Claim = claim;
        bool isObserved = watches && Headroom!.IsLimited;
        bool isNothing = job.Learned is null && claim.AllocatedBytes == 0;
        job.Hold = isNothing ? JobHold.None : _running.FindHold(job, known is null, isObserved, now);
        if (job.Hold != JobHold.None)
        {
            return false;
        }

        JobClaim surprise = job.Learned is null ? default : _running.SurpriseBeside(claim, this);
        long minimumFree = job.Learned is null ? MinimumFreeBytes : 0;
        long beside = claim.ElsewhereBytes + surprise.TotalBytes;
        bool fits = isNothing || !watches
            || (Headroom!.Line.MayTake(this) && Headroom.Admits(this, claim.AllocatedBytes, minimumFree, beside));
        if (fits && watches && claim.ElsewhereBytes > 0 && !Headroom!.IsFree(claim.ElsewhereBytes))
        {
            // Other code cannot use what is idle in the pools.
            _lacksFreeMemory = true;
            fits = false;
        }

        long limit = LimitInBytes - Math.Min(surprise.AllocatedBytes, LimitInBytes);
        bool isTaken = fits && TryAdd(ref _admittedBytes, claim.AllocatedBytes, limit);
        if (watches && !isNothing)
        {
            Headroom!.Line.Note(this, isTaken, waits: !fits);
        }

        if (!isTaken)
        {
            return false;
        }

        _running.Begin(job, this, claim, known is null, now);
        return true;
    }

    /// <summary>Returns whether a job could have as much if nothing else was taken.</summary>
    public bool FitsEver(long bytes)
    {
        using ShortLock.Section section = _running.Lock.Enter();
        return bytes <= LimitForJobs;
    }

    /// <summary>Reads what is outstanding without having been admitted, before a reservation asks for room.</summary>
    public void ReadUncounted()
    {
        if (!IsCounted && ReadIdleBytes is { } readIdle)
        {
            if (Interlocked.Exchange(ref _isRegistered, 1) == 0)
            {
                // Only from its first job on do its figures matter to others.
                Headroom!.Register(this);
            }

            long idle = readIdle();
            long left;
            using (Lock.Enter())
            {
                // Memory that has outlived its job is still charged.
                left = Math.Max(0, AdmittedBytes - ReservedBytes);
            }

            using ShortLock.Section section = _running.Lock.Enter();
            Volatile.Write(ref _uncountedBytes, Math.Max(0, CommittedBytes - idle - left - _running.UsedBytesOf(this)));
        }
    }

    /// <summary>Releases idle memory if a job was held up because too little is really free. May block.</summary>
    public void FreeForJobs()
    {
        if (Volatile.Read(ref _lacksFreeMemory))
        {
            Volatile.Write(ref _lacksFreeMemory, false);
            ReleaseIdle?.Invoke();
            Headroom!.NoteFreed();
            Look();
        }
    }

    /// <summary>Reads what is used beside jobs, if learned jobs wait for that and none runs any more. May block.</summary>
    public void ReadBase()
    {
        bool mayRead;
        bool isGarbageInIt;
        using (_running.Lock.Enter())
        {
            mayRead = _running.IsBaseDue && !_running.IsAnyYoung(_clock.NowMilliseconds);
            isGarbageInIt = _running.IsGarbageInBase;
        }

        if (mayRead)
        {
            if (isGarbageInIt)
            {
                Collect?.Invoke();
            }

            TrimHeap?.Invoke(true);
            Headroom!.ReadBase();
            ServeWaiters();
        }
    }

    /// <summary>Ends a job that has begun, and learns from it. Under the lock.</summary>
    public void End(RunningJob job, long allocatedBytes, bool isRefused)
    {
        Debug.Assert(Lock.IsHeld);
        using ShortLock.Section section = _running.Lock.Enter();
        long now = _clock.NowMilliseconds;
        _running.End(job, allocatedBytes, isRefused, isObserved: WatchesContainer && Headroom!.IsLimited, now);
        if (_running.IsBaseDue)
        {
            _clock.RunBy(_baseReading, now);
        }
    }

    public override long ChargeFor(long bytes) => bytes;

    public override bool EndCharge(long bytes)
    {
        long left = Interlocked.Add(ref _admittedBytes, -bytes);
        Debug.Assert(left >= 0, "No more comes back than was admitted.");
        return bytes > 0;
    }

    /// <summary>Counts bytes that are about to be committed. False if they are too many. <see cref="Uncount"/> must follow.</summary>
    public bool TryCount(long bytes) => TryAdd(ref _committedBytes, bytes, LimitInBytes);

    /// <summary>Counts bytes as no longer committed.</summary>
    public void Uncount(long bytes)
    {
        if (bytes != 0)
        {
            long left = Interlocked.Add(ref _committedBytes, -bytes);
            Debug.Assert(left >= 0, "No more goes than was committed.");
        }
    }

    /// <summary>Gets or sets its place among the budgets that wait for the container; 0 for none. Under the lock of the headroom.</summary>
    public long PlaceInLine
    {
        get => _placeInLine;
        set => Volatile.Write(ref _placeInLine, value);
    }

    /// <summary>Gets or sets how often others have taken memory of the container since then.</summary>
    public int OvertakenInLine { get; set; }

    /// <summary>Gives up its place in the container's line: another request of it is the first, or none waits any more.</summary>
    public void LeaveLine()
    {
        if (Volatile.Read(ref _placeInLine) != 0)
        {
            using ShortLock.Section section = Headroom!.Lock.Enter();
            PlaceInLine = 0;
        }
    }

    /// <summary>Counts a request that waits, or with -1 one whose wait is over. Called by the queue under its lock.</summary>
    public void CountWaiter(int change, bool isOfReservation)
    {
        Debug.Assert(Lock.IsHeld && Waiters + change >= 0);
        Interlocked.Add(ref _waitersOfReservations, isOfReservation ? change : 0);
        Interlocked.Add(ref _waiters, change);
    }

    public void Post(BudgetRequest request, bool mayWait = true)
    {
        if (!mayWait && request.LearnedJob is { } job)
        {
            // It cannot wait for the base: an old one only lets fewer others in.
            job.ForgoesBase = true;
        }

        _queue.Post(request, mayWait);
    }

    /// <summary>Gets whether budgets that share the container wait for a request of this one.</summary>
    public bool HoldsUpOthers => Volatile.Read(ref _placeInLine) != 0 && OvertakenInLine >= BudgetQueue.MaximumOvertakes;

    /// <summary>
    /// Returns whether a job runs that is not long, so that memory is about to come back. Jobs of others count if it waits for the
    /// container.
    /// </summary>
    public bool IsAnyJobYoung()
    {
        using ShortLock.Section section = _running.Lock.Enter();
        return _running.IsAnyYoung(_clock.NowMilliseconds, PlaceInLine != 0 ? null : this);
    }

    public bool TryCancel(BudgetRequest request) => _queue.TryCancel(request);

    /// <summary>
    /// Watches the container while any request waits: the collector, and other processes in it, notify no waiter. Uses real time even in
    /// tests, which simulate clocks but no container.
    /// </summary>
    public void Watch()
    {
        if (WatchesContainer && HasWaiters)
        {
            BackgroundThread.Shared.RunBy(this, Environment.TickCount64 + LookAgainMilliseconds);
        }
    }

    /// <summary>
    /// Grants every request that fits by now, for finalizers on the background thread. Called by all code that returns memory. If none
    /// waits, it is two reads.
    /// </summary>
    public void ServeWaiters(bool byFinalizer = false)
    {
        // The caller has just used an interlocked operation: a request posted meanwhile sees the returned memory, or is seen here.
        if (HasWaiters && byFinalizer)
        {
            BackgroundThread.Shared.Queue(this);
        }
        else if (HasWaiters)
        {
            _queue.Serve();
        }
    }

    /// <summary>As <see cref="ServeWaiters"/>, by the container's free memory now. Reads files, so returns do not call it.</summary>
    public void Look()
    {
        try
        {
            if (HasWaiters && WatchesContainer)
            {
                ReadUncounted();
                Headroom!.Measure();
                Volatile.Write(ref _isMeasured, true);
            }

            ServeWaiters();
        }
        finally
        {
            Volatile.Write(ref _isMeasured, false);
        }
    }

    /// <summary>Fails all waiting requests because the allocator is disposed. It accepts no new ones.</summary>
    public void Close()
    {
        Interlocked.Exchange(ref _closed, 1);
        _queue.Serve();
    }

    // For a request that waits. If nothing of this helps, the request is refused.
    private void MakeRoom()
    {
        ReadBase();
        TrimHeap?.Invoke(false);
        RefuseWhatFindsNoRoom();
    }

    private void RefuseWhatFindsNoRoom()
    {
        bool isNeeded = HasWaiters && (IsStuck || Headroom!.AdmittedBytes == 0);
        if (isNeeded && Interlocked.Exchange(ref _isRefusing, 1) == 0)
        {
            // No memory of the library will come back: other code has the missing memory, perhaps as garbage.
            try
            {
                IsStuck = false;
                BeforeRefusal?.Invoke();
                Headroom!.NoteFreed();
                Headroom.Measure();
                Volatile.Write(ref _mayRefuse, true);
                ServeWaiters();
            }
            finally
            {
                Volatile.Write(ref _mayRefuse, false);
                Volatile.Write(ref _isRefusing, 0);
            }
        }
    }

    private bool TryTake(long bytes, bool overtakes, bool keepsMinimumFree)
    {
        // If only reservations are counted, nothing counts what a job takes beyond its own: only the container may refuse it.
        if (!overtakes && HasWaiters && IsCounted)
        {
            return false;
        }

        if (!KeepsMinimumFree)
        {
            return TryAdd(ref _admittedBytes, bytes, LimitInBytes);
        }

        // The container must have room too. Growth of a job does not count as a newcomer there.
        using ShortLock.Section section = Headroom!.Lock.Enter();
        if (!keepsMinimumFree)
        {
            return Headroom.Admits(this, bytes, minimumFreeBytes: 0) && TryAdd(ref _admittedBytes, bytes, LimitInBytes);
        }

        bool fits = Headroom.Line.MayTake(this) && Headroom.Admits(this, bytes, MinimumFreeBytes);
        bool isTaken = fits && TryAdd(ref _admittedBytes, bytes, LimitInBytes);
        Headroom.Line.Note(this, isTaken, waits: !fits);
        return isTaken;
    }

    /// <summary>Work that may take seconds. Not done on the thread that ends waits, if there is another.</summary>
    private sealed class LongWork(Action work) : IBackgroundWork
    {
        private BackgroundState _state;

        ref BackgroundState IBackgroundWork.State => ref _state;

        void IBackgroundWork.DoWork()
        {
            if (BackgroundThread.LeavesToLong)
            {
                BackgroundThread.Long.Queue(this);
            }
            else
            {
                work();
            }
        }
    }
}
