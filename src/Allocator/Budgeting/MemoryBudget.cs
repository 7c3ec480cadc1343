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
    private int _isWatched;
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

    /// <summary>Gets or sets the idle memory that keeps permits; null where none does.</summary>
    public IPermitKeeper? Idle { get; set; }

    /// <summary>Gets whether memory that falls idle may keep its permit, so that the next rent need not ask.</summary>
    public bool LetsIdleKeep => Idle is not null && !HasWaiters;

    /// <summary>Gets what makes room where nothing is outstanding, and there is none all the same. May block.</summary>
    public Action? BeforeRefusal { get; init; }

    /// <summary>Gets whether requests have to be admitted, and bytes are counted. Otherwise only the container may refuse.</summary>
    public bool IsLimited => LimitInBytes != long.MaxValue || MinimumFreeBytes > 0;

    public bool IsLimitedByContainer => MinimumFreeBytes > 0;

    /// <summary>Gets whether the container's lack of room may refuse waiting requests now, since everything else was tried.</summary>
    public bool MayRefuse => Volatile.Read(ref _mayRefuse);

    public long AdmittedBytes => Volatile.Read(ref _admittedBytes);

    /// <summary>Gets what is outstanding or reserved: what is admitted, without what idle memory has kept.</summary>
    public long UsedBytes => Math.Max(0, AdmittedBytes - (Idle?.KeptBytes ?? 0));

    public long CommittedBytes => Volatile.Read(ref _committedBytes);

    /// <summary>Gets or sets what open reservations are charged with of the admitted bytes. Under the lock.</summary>
    public long ReservedBytes { get; set; }

    public bool HasWaiters => _queue.Count != 0;

    public int Waiters => _queue.Count;

    /// <summary>Gets whether there is a thread of <see cref="Watch"/>.</summary>
    public bool IsWatched => Volatile.Read(ref _isWatched) != 0;

    public override ShortLock Lock => _queue.Lock;

    public override ReservationAccount? OutermostReservation => null;

    public override bool IsClosed => Volatile.Read(ref _closed) != 0;

    ref BackgroundState IBackgroundWork.State => ref _work;

    void IBackgroundWork.DoWork() => ServeWaiters();

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

        if (!IsLimitedByContainer)
        {
            return TryAdmit(bytes);
        }

        using (Headroom!.Lock.Enter())
        {
            return Headroom.Admits(this, bytes) && TryAdmit(bytes);
        }
    }

    public override long ChargeFor(long bytes) => bytes;

    public override void GiveBack(long bytes) => Interlocked.Add(ref _admittedBytes, -bytes);

    /// <summary>Counts bytes that are about to be committed, unless they are too many. <see cref="NoteReleased"/> has to follow.</summary>
    public bool TryCount(long bytes, ref Refusals refusals) =>
        !IsLimited || TryAdd(ref _committedBytes, bytes, LimitInBytes) || refusals.Refuse(bytes, byContainer: false);

    /// <summary>Takes back what was counted and the container has no room for. Returns false.</summary>
    public bool CancelCount(long bytes, ref Refusals refusals)
    {
        NoteReleased(bytes);
        return refusals.Refuse(bytes, byContainer: true);
    }

    /// <summary>
    /// As <see cref="TryCount"/>, unless the container has none left. <see cref="NoteCommitted"/> or <see cref="CancelCommit"/> follows.
    /// </summary>
    public bool TryCommit(long bytes, ref Refusals refusals) =>
        TryCount(bytes, ref refusals) && (TryGrant(bytes, refusals) || CancelCount(bytes, ref refusals));

    /// <summary>Returns whether the container has room for a whole request: requests must not wait for each other's parts.</summary>
    public bool CanCommit(long bytes, ref Refusals refusals)
    {
        if (!TryGrant(bytes, refusals))
        {
            return refusals.Refuse(bytes, byContainer: true);
        }

        Headroom?.Cancel(bytes);
        return true;
    }

    /// <summary>Notes where the system has given what was counted, or a part of it; 0 for a managed array.</summary>
    public void NoteCommitted(nint address, long bytes) => Headroom?.Commit(address, bytes);

    /// <summary>Takes back what was counted and the system did not give.</summary>
    public void CancelCommit(long bytes)
    {
        Headroom?.Cancel(bytes);
        NoteReleased(bytes);
    }

    /// <summary>Notes that memory is about to go back to the system.</summary>
    public void NoteReleasing(nint address) => Headroom?.Forget(address);

    /// <summary>Counts bytes as no longer committed. They have gone.</summary>
    public void NoteReleased(long bytes)
    {
        if (bytes != 0)
        {
            Headroom?.NoteFreed();
            if (IsLimited)
            {
                Interlocked.Add(ref _committedBytes, -bytes);
            }
        }
    }

    /// <summary>Returns how many bytes have to be released before so many more can be committed; 0 or less for none.</summary>
    public long ShortageOf(long bytes) => bytes - (LimitInBytes - CommittedBytes);

    /// <summary>Grants a request now, or lets it wait; one that may not wait is withdrawn where it is not granted.</summary>
    public void Post(BudgetRequest request, bool mayWait = true)
    {
        bool isSeen = _queue.Announce();
        if (Idle is not null && !isSeen)
        {
            // A block that comes back with its permit is in the cache behind this, or its thread sees that a request waits.
            ProcessBarrier.Flush();
            Idle.ReleasePermits();
        }

        _queue.Post(request, mayWait);
    }

    /// <summary>Ends the wait of a request. False where its outcome was decided before.</summary>
    public bool TryWithdraw(BudgetRequest request) => _queue.TryWithdraw(request);

    /// <summary>Has a thread look at the container until no request waits: nothing reports what is free. Called when one waits.</summary>
    public void Watch()
    {
        if (IsLimitedByContainer && Interlocked.Exchange(ref _isWatched, 1) == 0)
        {
            try
            {
                Background.StartThread(LookUntilNoneWaits, "Allocator looks");
            }
            catch (Exception exception)
            {
                Volatile.Write(ref _isWatched, 0);
                if (exception is not OutOfMemoryException)
                {
                    throw;
                }

                // A return of memory, or a tick, serves the request.
            }
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
        if (HasWaiters && IsLimitedByContainer)
        {
            Headroom!.Measure();
        }

        ServeWaiters();
    }

    /// <summary>As <see cref="ServeWaiters"/>, on the thread pool: for finalizers.</summary>
    public void ServeWaitersLater()
    {
        if (HasWaiters)
        {
            Background.Queue(this);
        }
    }

    /// <summary>Fails all waiting requests, because the allocator is disposed. It takes no new ones.</summary>
    public void Close()
    {
        Interlocked.Exchange(ref _closed, 1);
        _queue.Serve();
    }

    // In real time also in tests, which simulate clocks but no container.
    private void LookUntilNoneWaits()
    {
        do
        {
            while (HasWaiters)
            {
                Thread.Sleep(LookAgainMilliseconds);
                try
                {
                    LookAgain();
                }
                catch (Exception)
                {
                    // For want of managed memory, and an exception that leaves a thread ends the process. The next look is soon.
                }
            }

            Interlocked.Exchange(ref _isWatched, 0);
        }
        while (HasWaiters && Interlocked.Exchange(ref _isWatched, 1) == 0);
    }

    // The collector, and other processes of the container, notify no waiter.
    private void LookAgain()
    {
        Look();
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

    // MinimumFreeBytes may refuse the first attempt only: then idle memory is released for it, as far as there is any.
    private bool TryGrant(long bytes, in Refusals refusals) =>
        Headroom is null || Headroom.TryGrant(bytes, refusals.ByContainer == 0 ? MinimumFreeBytes : 0, HonorsLimit, isAdmitted: IsLimited);
}
