using Allocator.Native;

namespace Allocator.Budgeting;

internal enum BudgetOutcome
{
    /// <summary>Not decided yet.</summary>
    Waiting,

    Granted,

    /// <summary>The caller gave up, or did not want to wait.</summary>
    Cancelled,

    /// <summary>The allocator, or the reservation, was disposed.</summary>
    Closed,

    /// <summary>It was growth of a reservation that could have waited for ever.</summary>
    Stuck,

    /// <summary>The container leaves less, and nothing is outstanding that could come back.</summary>
    NoRoom,
}

/// <summary>
/// One request that may have to wait for its part of the budget. Everything that the wait needs is allocated with it: the queue allocates
/// nothing, and a request is never lost because memory has run out.
/// </summary>
[DebuggerDisplay("{Bytes} bytes, {Outcome}, number {Serial}")]
internal sealed class BudgetRequest : IBackgroundWork
{
    // The thread that completes a wait with a timeout has this context. The runtime inlines continuations if the context is of the base
    // class, and not if it is of another class.
    private static readonly SynchronizationContext s_ours = new();
    private static readonly SynchronizationContext s_noContinuations = new NoContinuations();
    private static readonly WaitCallback s_complete = static request => ((BudgetRequest)request!).Complete();

    // Allocated before a continuation: what is granted takes less, and an exception with a task's object for it.
    private const int ProbeBytes = 4096;

    private const int RetryMilliseconds = 1000;

    // The reservation that begins when it is granted. Its claim is that of the moment.
    private readonly ReservationAccount? _begins;

    // For an asynchronous wait.
    private readonly bool _isTimed;
    private Action<object?>? _continuation;
    private object? _continuationState;

    private BackgroundState _work;
    private int _outcome;

    /// <summary>
    /// Makes a request for a thread that blocks, or for a continuation. A continuation runs on the thread pool. If its wait has a timeout,
    /// it runs on the background thread: the pool's threads may all wait for memory themselves.
    /// </summary>
    public BudgetRequest(BudgetAccount account, long bytes, bool blocks = false, bool isTimed = false, ReservationAccount? begins = null)
    {
        Debug.Assert(!blocks || !isTimed);
        Account = account;
        Bytes = bytes;
        _begins = begins;
        Node = new LinkedListNode<BudgetRequest>(this);
        Handle = blocks ? new ManualResetEvent(initialState: false) : null;
        _isTimed = isTimed;
    }

    public BudgetAccount Account { get; }

    /// <summary>Gets how many bytes it asks for. If they are learned, they may change until the outcome is decided.</summary>
    public long Bytes { get; private set; }

    /// <summary>Gets the reservation that it is charged to: another one once that has ended, or none.</summary>
    public ReservationAccount? Reservation => Account.OutermostReservation;

    /// <summary>Gets the outcome. Decided once, under the queue's lock.</summary>
    public BudgetOutcome Outcome => (BudgetOutcome)Volatile.Read(ref _outcome);

    public bool IsWaiting => Outcome == BudgetOutcome.Waiting;

    public bool IsGranted => Outcome == BudgetOutcome.Granted;

    /// <summary>Gets the handle of a blocked thread; null if none blocks. It is set when the outcome is decided.</summary>
    /// <remarks>
    /// The thread that returns memory sets it, which must neither fail nor be interrupted: so it is an event of the system. It is never
    /// disposed, because it may be set after the wait has timed out.
    /// </remarks>
    public ManualResetEvent? Handle { get; }

    /// <summary>Gets the bytes of the reservation when its growth failed, those outstanding, and the most that it ever had.</summary>
    public (long ReservedBytes, long UsedBytes, long PeakBytes) AtFailure { get; private set; }

    /// <summary>Gets what the budget would have been charged when it failed, including the rest of the reservation.</summary>
    public long NeededBytes { get; private set; }

    /// <summary>Gets its node in the queue: first among waiting requests, then among those with a waiter to be notified.</summary>
    public LinkedListNode<BudgetRequest> Node { get; }

    /// <summary>Gets or sets its number in order of arrival. Used under the queue's lock, like the members below.</summary>
    public long Serial { get; set; }

    /// <summary>Gets or sets how many newcomers had been served when it was posted.</summary>
    public long ServedBefore { get; set; }

    /// <summary>Gets or sets whether the waiter learns the outcome by notification from here on.</summary>
    public bool IsPosted { get; set; }

    /// <summary>Gets how much more the budget would be charged if it were granted.</summary>
    public long Charge => Account.ChargeFor(Bytes);

    /// <summary>
    /// Gets whether it is growth up to twice the original size of a reservation. Earlier growth does not raise that limit.
    /// </summary>
    public bool GoesAhead => Reservation is { IsClosed: false } reservation
        && ByteCount.Add(reservation.ChargedBytes, Charge) <= ByteCount.Add(reservation.OriginalBytes, reservation.OriginalBytes);

    ref BackgroundState IBackgroundWork.State => ref _work;

    /// <summary>Makes the shared objects while an exception has a caller. A type initializer that fails once fails for ever.</summary>
    public static void Prepare() => GC.KeepAlive(s_complete);

    /// <summary>Moves the continuations of a task off the background thread. Called at the end of the method whose task it is.</summary>
    public static void KeepContinuationsOff()
    {
        if (SynchronizationContext.Current == s_ours)
        {
            SynchronizationContext.SetSynchronizationContext(s_noContinuations);
        }
    }

    /// <summary>Takes the bytes that it asks for, or begins its reservation. Under the queue's lock.</summary>
    public bool TryTake()
    {
        Debug.Assert(Account.Lock.IsHeld && IsWaiting);
        if (_begins is null)
        {
            return Account.TryTake(Bytes, overtakes: true);
        }

        bool isBegun = _begins.TryBegin(overtakes: true);
        Bytes = _begins.ClaimedBytes;
        return isBegun;
    }

    /// <summary>Decides the outcome. Called once, under the queue's lock.</summary>
    public void Settle(BudgetOutcome outcome)
    {
        Debug.Assert(Account.Lock.IsHeld && IsWaiting && outcome != BudgetOutcome.Waiting, "The outcome is decided once, under the lock.");
        if (outcome is BudgetOutcome.Stuck or BudgetOutcome.Cancelled)
        {
            ReservationAccount? reservation = Reservation;
            AtFailure = reservation is null ? default : (reservation.ReservedBytes, reservation.UsedBytes, reservation.PeakUsedBytes);
            NeededBytes = reservation is null ? Bytes : ByteCount.Add(reservation.ChargedBytes, Math.Max(0, Charge));

            // Growth that was only tried, or given up, is no need. An allocation that fails ends most jobs.
            if (outcome == BudgetOutcome.Stuck || (Handle is not null && Account is not ReservationAccount.Growth))
            {
                reservation?.NoteRefusal(NeededBytes);
            }
        }

        Volatile.Write(ref _outcome, (int)outcome);
    }

    /// <summary>Sets the continuation that runs once at the outcome, if no thread blocks. Called before the request is posted.</summary>
    public void ContinueWith(Action<object?> continuation, object? state)
    {
        Debug.Assert(!IsPosted && Node.List is null, "The request has been posted.");
        _continuationState = state;
        _continuation = continuation;
    }

    /// <summary>Ends the wait. False if the outcome was decided before.</summary>
    public bool TryCancel() => Account.Budget!.TryCancel(this);

    /// <summary>Gets what its holder returns once it is granted: nothing if a reservation has begun, which holds its bytes.</summary>
    public BudgetPermit Permit => _begins is null ? new BudgetPermit(Account, Bytes) : default;

    /// <summary>Ends the wait, or returns the granted bytes.</summary>
    public void Withdraw()
    {
        if (!TryCancel() && IsGranted)
        {
            if (_begins is null)
            {
                Account.Return(Bytes);
            }
            else
            {
                _begins.Close();
            }
        }
    }

    /// <summary>Wakes the waiting thread, or runs the continuation on another one. Never throws; not called under a lock.</summary>
    public void Notify()
    {
        Debug.Assert(!IsWaiting && !Account.Lock.IsHeld);
        if (Handle is not null)
        {
            Handle.Set();
        }
        else
        {
            BackgroundThread.Shared.Queue(this);
        }
    }

    // If this fails without managed memory, it is called again.
    void IBackgroundWork.DoWork()
    {
        if (IsWaiting)
        {
            // Its time is over. If it is granted meanwhile, its waiter gets the grant.
            TryCancel();
        }
        else if (_isTimed)
        {
            CompleteHere();
        }
        else
        {
            ThreadPool.UnsafeQueueUserWorkItem(s_complete, this);
        }
    }

    /// <summary>Runs the continuation here, once. Never throws: an exception would end the process.</summary>
    public void Complete()
    {
        try
        {
            Resume();
        }
        catch (Exception)
        {
            BackgroundThread.Shared.RunBy(this, Environment.TickCount64 + RetryMilliseconds);
        }
    }

    // Continuations of the library run here and now. The last of them moves the user's to another thread.
    private void CompleteHere()
    {
        SynchronizationContext? before = SynchronizationContext.Current;
        SynchronizationContext.SetSynchronizationContext(s_ours);
        try
        {
            Resume();
        }
        finally
        {
            SynchronizationContext.SetSynchronizationContext(before);
        }
    }

    // Code that goes on without managed memory throws, and without memory for its exception the runtime loses both. So this is repeated.
    private void Resume()
    {
        GC.KeepAlive(new byte[ProbeBytes]);
        Interlocked.Exchange(ref _continuation, null)?.Invoke(_continuationState);
    }

    private sealed class NoContinuations : SynchronizationContext;
}
