using Allocator.Native;

namespace Allocator.Budgeting;

/// <summary>
/// How much memory one allocator may have, as two numbers. <see cref="AdmittedBytes"/> is what may be outstanding: the capacity of all
/// that is rented or abandoned, and what is reserved and not used. <see cref="CommittedBytes"/> is what the system has given and the
/// arrays that were made, idle memory included. Each is changed by one interlocked operation for a whole request, so that no request
/// holds a part of what it needs while it waits for the rest, and neither exceeds the limit at any time. Where an admitted request cannot
/// commit, as much memory is idle, or is being trimmed by another thread.
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
    private int _closed;
    private BackgroundState _work;

    /// <summary>Makes one. Growth that only memory outside of reservations could help waits for the timeout, and at least 5 s.</summary>
    public MemoryBudget(long limitInBytes = long.MaxValue, Clock? clock = null, TimeSpan timeout = default)
        : base(null)
    {
        LimitInBytes = limitInBytes;
        _queue = new BudgetQueue(this, clock ?? SystemClock.Instance, timeout);
    }

    /// <summary>Gets one without a limit, which counts nothing.</summary>
    public static MemoryBudget Unlimited { get; } = new();

    public long LimitInBytes { get; }

    /// <summary>Gets what the container has left; null where that is not asked.</summary>
    public ProcessHeadroom? Headroom { get; init; }

    /// <summary>Gets how much of the container has to stay free for requests to be admitted; 0 where any may be.</summary>
    public long MinimumFreeBytes { get; init; }

    /// <summary>Gets whether memory that the container certainly has no room for is refused.</summary>
    public bool HonorsLimit { get; init; }

    /// <summary>Gets what makes room where nothing is outstanding, and there is none all the same. May block.</summary>
    public Action? BeforeRefusal { get; init; }

    /// <summary>Gets whether requests have to be admitted, and bytes are counted. Otherwise only the container may refuse.</summary>
    public bool IsCounted => LimitInBytes != long.MaxValue || MinimumFreeBytes > 0;

    public bool KeepsMinimumFree => MinimumFreeBytes > 0;

    /// <summary>Gets whether the container's lack of room may refuse waiting requests now, since everything else was tried.</summary>
    public bool MayRefuse => Volatile.Read(ref _mayRefuse);

    /// <summary>Gets what jobs of this budget's allocator have needed.</summary>
    public LearnedJobs Jobs { get; } = new();

    /// <summary>Gets the most that can be admitted now, were nothing outstanding.</summary>
    public long RoomBytes => Math.Min(LimitInBytes, KeepsMinimumFree ? Headroom!.RoomFor(this) : long.MaxValue);

    public long AdmittedBytes => Volatile.Read(ref _admittedBytes);

    public long CommittedBytes => Volatile.Read(ref _committedBytes);

    /// <summary>Gets or sets what open reservations are charged with of the admitted bytes. Under the lock.</summary>
    public long ReservedBytes
    {
        get;
        set
        {
            Debug.Assert(Lock.IsHeld && value >= 0);
            field = value;
        }
    }

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
        long now = Volatile.Read(ref sum);
        while (bytes <= limit - now)
        {
            long seen = Interlocked.CompareExchange(ref sum, now + bytes, now);
            if (seen == now)
            {
                return true;
            }

            now = seen;
        }

        return false;
    }

    public override bool TryTake(long bytes, bool overtakes)
    {
        if (!overtakes && HasWaiters)
        {
            return false;
        }

        if (!KeepsMinimumFree)
        {
            return TryAdmit(bytes);
        }

        using (Headroom!.Lock.Enter())
        {
            return Headroom.Admits(this, bytes) && TryAdmit(bytes);
        }
    }

    public override long ChargeFor(long bytes) => bytes;

    public override void EndCharge(long bytes)
    {
        long left = Interlocked.Add(ref _admittedBytes, -bytes);
        Debug.Assert(left >= 0, "No more comes back than was admitted.");
    }

    /// <summary>Counts bytes that are about to be committed, unless they are too many. <see cref="Uncount"/> has to follow.</summary>
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

    /// <summary>Returns how many bytes have to be released before so many more can be committed; 0 or less for none.</summary>
    public long ShortageOf(long bytes) => bytes - (LimitInBytes - CommittedBytes);

    /// <summary>Counts a request that waits. Called by the queue under its lock.</summary>
    public void BeginWait()
    {
        Debug.Assert(Lock.IsHeld);
        Interlocked.Increment(ref _waiters);
    }

    /// <summary>Counts a request whose wait is over. Called by the queue under its lock.</summary>
    public void EndWait()
    {
        Debug.Assert(Lock.IsHeld && HasWaiters);
        Interlocked.Decrement(ref _waiters);
    }

    /// <summary>Grants a request now, or lets it wait; one that may not wait is withdrawn where it is not granted.</summary>
    public void Post(BudgetRequest request, bool mayWait = true) => _queue.Post(request, mayWait);

    /// <summary>Ends the wait of a request. False where its outcome was decided before.</summary>
    public bool TryCancel(BudgetRequest request) => _queue.TryCancel(request);

    /// <summary>
    /// Has the container looked at while any request waits: the collector, and other processes of it, notify no waiter. In real time also
    /// in tests, which simulate clocks but no container.
    /// </summary>
    public void Watch()
    {
        if (KeepsMinimumFree && HasWaiters)
        {
            BackgroundThread.Shared.RunBy(this, Environment.TickCount64 + LookAgainMilliseconds);
        }
    }

    /// <summary>Grants what fits by now. Called by all that give memory back; where no request waits it is two reads.</summary>
    public void ServeWaiters()
    {
        // After an interlocked operation of the caller: a request that is posted meanwhile sees what was given back, or is seen here.
        if (HasWaiters)
        {
            _queue.Serve();
        }
    }

    /// <summary>As <see cref="ServeWaiters"/>, by what the container leaves now. Reads files: not where memory is returned.</summary>
    public void Look()
    {
        if (HasWaiters && KeepsMinimumFree)
        {
            Headroom!.Measure();
        }

        ServeWaiters();
    }

    /// <summary>As <see cref="ServeWaiters"/>, on the background thread: for finalizers.</summary>
    public void ServeWaitersLater()
    {
        if (HasWaiters)
        {
            BackgroundThread.Shared.Queue(this);
        }
    }

    /// <summary>Fails all waiting requests, because the allocator is disposed. It takes no new ones.</summary>
    public void Close()
    {
        Interlocked.Exchange(ref _closed, 1);
        _queue.Serve();
    }

    private void RefuseWhatFindsNoRoom()
    {
        if (HasWaiters && Headroom!.IsNothingOutstanding())
        {
            // No memory of the library will come back: other code has what is missing.
            BeforeRefusal?.Invoke();
            Headroom.NoteFreed();
            Headroom.Measure();
            Volatile.Write(ref _mayRefuse, true);
            ServeWaiters();
            Volatile.Write(ref _mayRefuse, false);
        }
    }

    // Whatever the container has left.
    private bool TryAdmit(long bytes) => TryAdd(ref _admittedBytes, bytes, LimitInBytes);
}
