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

    private readonly BudgetQueue _queue;
    private long _admittedBytes;
    private long _committedBytes;
    private int _waiters;
    private bool _mayRefuse;
    private bool _isMeasured;
    private int _closed;
    private BackgroundState _work;

    // The learned reservation for which room is kept.
    private ReservationAccount? _first;

    /// <summary>Makes a budget. Growth that only memory outside of reservations can serve waits for the timeout, at least 5 s.</summary>
    public MemoryBudget(long limitInBytes = long.MaxValue, Clock? clock = null, TimeSpan timeout = default)
        : base(null)
    {
        LimitInBytes = limitInBytes;
        _queue = new BudgetQueue(this, clock ?? SystemClock.Instance, timeout);
    }

    public long LimitInBytes { get; }

    /// <summary>Gets the container's free memory. Null if it is not consulted.</summary>
    public ProcessHeadroom? Headroom { get; init; }

    public long MinimumFreeBytes { get; init; }

    /// <summary>Gets whether memory is refused that the container certainly has no room for.</summary>
    public bool HonorsLimit { get; init; }

    /// <summary>Gets the callback that makes room if nothing is outstanding and there still is none. May block.</summary>
    public Action? BeforeRefusal { get; init; }

    /// <summary>Gets whether requests must be admitted, and bytes are counted. Otherwise only the container may refuse.</summary>
    public bool IsCounted => LimitInBytes != long.MaxValue || MinimumFreeBytes > 0;

    public bool KeepsMinimumFree => MinimumFreeBytes > 0;

    /// <summary>Gets whether a full container may refuse waiting requests now, because everything else was tried.</summary>
    public bool MayRefuse => Volatile.Read(ref _mayRefuse);

    /// <summary>Gets whether growth may fail now. Old figures show memory as used that codecs have freed since.</summary>
    public bool MayFailGrowth => !KeepsMinimumFree || Volatile.Read(ref _isMeasured) || MayRefuse;

    public LearnedJobs Jobs { get; } = new();

    /// <summary>Gets the most that could be admitted now if nothing were outstanding.</summary>
    public long RoomBytes => Math.Min(LimitInBytes, KeepsMinimumFree ? Headroom!.RoomFor(this) : long.MaxValue);

    public long AdmittedBytes => Volatile.Read(ref _admittedBytes);

    /// <summary>Gets what may come back and make room: in a container also the outstanding memory of other allocators.</summary>
    public long OutstandingBytes => KeepsMinimumFree ? Math.Max(AdmittedBytes, Headroom!.AdmittedBytes) : AdmittedBytes;

    public long CommittedBytes => Volatile.Read(ref _committedBytes);

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

    /// <summary>Gets or sets whether learned jobs may grow even if none is certain to end then: otherwise all would wait.</summary>
    public bool IgnoresClaims { get; set; }

    /// <summary>Gets or sets whether growth has to fail unless room is made for it. Set under the lock.</summary>
    public bool IsStuck { get; set; }

    public int Waiters => Volatile.Read(ref _waiters);

    public bool HasWaiters => Waiters != 0;

    public override ShortLock Lock => _queue.Lock;

    public override ReservationAccount? OutermostReservation => null;

    public override bool IsClosed => Volatile.Read(ref _closed) != 0;

    ref BackgroundState IBackgroundWork.State => ref _work;

    void IBackgroundWork.DoWork()
    {
        try
        {
            Look();
            if (KeepsMinimumFree)
            {
                RefuseWhatFindsNoRoom();
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

    public override bool TryTake(long bytes, bool overtakes) => TryTake(bytes, overtakes, leavingBytes: 0);

    /// <summary>Takes the first bytes of a learned job if one running job can still get all that it may need.</summary>
    public bool TryBegin(LearnedJob job, long bytes, bool overtakes)
    {
        using ShortLock.Section section = Lock.Enter();
        return TryTake(bytes, overtakes, ClaimsWith(job.ClaimOf(this), bytes, account: null));
    }

    /// <summary>Takes the growth of a learned reservation, under the same condition. Under the lock.</summary>
    public bool TryGrow(ReservationAccount account, long bytes, bool overtakes)
    {
        Debug.Assert(Lock.IsHeld);
        long held = ByteCount.Add(account.ChargedBytes, bytes);
        if (!TryTake(bytes, overtakes, IgnoresClaims ? 0 : ClaimsWith(account.Job!.ClaimOf(this), held, account)))
        {
            return false;
        }

        _first = First is not { } first || first.ChargedBytes < held ? account : first;
        return true;
    }

    public override long ChargeFor(long bytes) => bytes;

    public override void EndCharge(long bytes)
    {
        long left = Interlocked.Add(ref _admittedBytes, -bytes);
        Debug.Assert(left >= 0, "No more comes back than was admitted.");
    }

    /// <summary>Counts bytes that are about to be committed. False if they are too many. <see cref="Uncount"/> must follow.</summary>
    public bool TryCount(long bytes) => !IsCounted || TryAdd(ref _committedBytes, bytes, LimitInBytes);

    /// <summary>Counts bytes as no longer committed.</summary>
    public void Uncount(long bytes)
    {
        if (bytes != 0 && IsCounted)
        {
            long left = Interlocked.Add(ref _committedBytes, -bytes);
            Debug.Assert(left >= 0, "No more goes than was committed.");
        }
    }

    /// <summary>Counts a request that waits, or with -1 one whose wait is over. Called by the queue under its lock.</summary>
    public void CountWaiter(int change)
    {
        Debug.Assert(Lock.IsHeld && Waiters + change >= 0);
        Interlocked.Add(ref _waiters, change);
    }

    public void Post(BudgetRequest request, bool mayWait = true) => _queue.Post(request, mayWait);

    public bool TryCancel(BudgetRequest request) => _queue.TryCancel(request);

    /// <summary>
    /// Watches the container while any request waits: the collector, and other processes in it, notify no waiter. Uses real time even in
    /// tests, which simulate clocks but no container.
    /// </summary>
    public void Watch()
    {
        if (KeepsMinimumFree && HasWaiters)
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
            if (HasWaiters && KeepsMinimumFree)
            {
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

    private ReservationAccount? First => _first = _first?.IsClosed == true ? null : _first;

    private void RefuseWhatFindsNoRoom()
    {
        if (HasWaiters && (IsStuck || Headroom!.AdmittedBytes == 0))
        {
            // No memory of the library will come back: other code has the missing memory, perhaps as garbage.
            IsStuck = false;
            BeforeRefusal?.Invoke();
            Headroom!.NoteFreed();
            Headroom.Measure();
            Volatile.Write(ref _mayRefuse, true);
            ServeWaiters();
            Volatile.Write(ref _mayRefuse, false);
        }
    }

    // What has to stay free, so that one learned job can go on to its end: the one that grew furthest, or the one that asks. What it
    // returns then serves the next. Known as the banker's algorithm, for claims that are nearly alike.
    private long ClaimsWith(long claimBytes, long heldBytes, ReservationAccount? account)
    {
        long own = Math.Max(0, claimBytes - heldBytes);
        if (First is not { } first || first == account)
        {
            return own;
        }

        long claimOfFirst = first.Job!.ClaimOf(this);
        long left = Math.Max(0, claimOfFirst - first.ChargedBytes);
        return claimBytes > claimOfFirst ? own : claimBytes < claimOfFirst ? left : Math.Min(own, left);
    }

    private bool TryTake(long bytes, bool overtakes, long leavingBytes)
    {
        if (!overtakes && HasWaiters)
        {
            return false;
        }

        long limit = LimitInBytes - Math.Min(leavingBytes, LimitInBytes);
        if (!KeepsMinimumFree)
        {
            return TryAdd(ref _admittedBytes, bytes, limit);
        }

        // As far as the container has room too.
        using ShortLock.Section section = Headroom!.Lock.Enter();
        return Headroom.Admits(this, ByteCount.Add(bytes, leavingBytes)) && TryAdd(ref _admittedBytes, bytes, limit);
    }
}
