using Allocator.Native;

namespace Allocator.Budgeting;

/// <summary>What became of a request for a part of the budget.</summary>
internal enum BudgetOutcome
{
    /// <summary>Not decided yet.</summary>
    Waiting,

    /// <summary>Its bytes have been taken.</summary>
    Granted,

    /// <summary>The caller gave up, or did not want to wait.</summary>
    Cancelled,

    /// <summary>The allocator, or the reservation, was disposed.</summary>
    Closed,

    /// <summary>Growth of a reservation that could have waited for ever.</summary>
    Stuck,

    /// <summary>More than the container leaves, with nothing outstanding that could come back.</summary>
    NoRoom,
}

/// <summary>
/// One request that may have to wait for its part of the budget. All that waiting needs is allocated with it: the queue allocates nothing,
/// and a request is never lost for want of memory.
/// </summary>
[DebuggerDisplay("{Bytes} bytes, {Outcome}, number {Serial}")]
internal sealed class BudgetRequest : IBackgroundWork
{
    // Of a waiting thread. Set by the thread that returns memory, so it must neither fail nor be interrupted: an event of the system's.
    // Never disposed, because it may be set when the wait has timed out.
    private readonly ManualResetEvent? _event;

    // The runtime inlines continuations where the context is of the base class, which marks the thread that completes a wait in time; and
    // none where it is another's.
    private static readonly SynchronizationContext s_ours = new();
    private static readonly SynchronizationContext s_noContinuations = new NoContinuations();
    private static readonly WaitCallback s_complete = static request => ((BudgetRequest)request!).Complete();

    // An exception and what a task keeps it in take less.
    private const int ProbeBytes = 4096;

    private const int RetryMilliseconds = 1000;

    // Whose needs decide how much is asked for, as they are known when it is looked at.
    private readonly LearnedJob? _job;

    // Of an asynchronous wait.
    private readonly bool _isTimed;
    private Action<object?>? _continuation;
    private object? _continuationState;

    private BackgroundState _work;
    private int _outcome;

    /// <summary>
    /// Makes a request for a thread that blocks, or for a continuation. That runs on the thread pool; where it has a time to wait, on the
    /// background thread: threads of the pool may all wait for memory themselves.
    /// </summary>
    public BudgetRequest(BudgetAccount account, long bytes, bool blocks = false, bool isTimed = false, LearnedJob? job = null)
    {
        Debug.Assert(!blocks || !isTimed);
        Account = account;
        Bytes = bytes;
        _job = job;
        Reservation = account.OutermostReservation;
        Node = new LinkedListNode<BudgetRequest>(this);
        _event = blocks ? new ManualResetEvent(initialState: false) : null;
        _isTimed = isTimed;
    }

    public BudgetAccount Account { get; }

    /// <summary>Gets how many bytes it asks for. Where they are learned, they may change until the outcome is decided.</summary>
    public long Bytes { get; private set; }

    public ReservationAccount? Reservation { get; }

    /// <summary>Gets what has become of the request. Decided once, under the queue's lock.</summary>
    public BudgetOutcome Outcome => (BudgetOutcome)Volatile.Read(ref _outcome);

    public bool IsWaiting => Outcome == BudgetOutcome.Waiting;

    public bool IsGranted => Outcome == BudgetOutcome.Granted;

    /// <summary>Gets what is set when the outcome is decided, where a thread is blocked.</summary>
    public WaitHandle Handle => _event!;

    /// <summary>Gets what the reservation had outstanding when its growth failed, and the most that it ever had.</summary>
    public (long UsedBytes, long PeakBytes) AtFailure { get; private set; }

    /// <summary>Gets what the budget would have been charged with, the rest of the reservation included, when it failed.</summary>
    public long NeededBytes { get; private set; }

    /// <summary>Gets its place in the queue: first among those that wait, then among those whose waiter has to be notified.</summary>
    public LinkedListNode<BudgetRequest> Node { get; }

    /// <summary>Gets or sets its number in order of arrival. Under the queue's lock, as what follows.</summary>
    public long Serial { get; set; }

    /// <summary>Gets or sets how many newcomers had been served when it was posted.</summary>
    public long ServedBefore { get; set; }

    /// <summary>Gets or sets whether the thread that posts it reads the outcome from here on by being notified.</summary>
    public bool IsPosted { get; set; }

    /// <summary>Gets how many bytes more the budget would be charged with, were it granted.</summary>
    public long Charge => Account.ChargeFor(Bytes);

    /// <summary>
    /// Gets whether it is growth up to twice what a reservation was made with: what it has grown by since gives it no better place. For
    /// a learned one no size was promised, so all of its growth is.
    /// </summary>
    public bool GoesAhead => Reservation?.IsClosed == false
        && (Reservation.Job is not null || ByteCount.Add(Reservation.ChargedBytes, Charge)
            <= ByteCount.Add(Reservation.OriginalBytes, Reservation.OriginalBytes));

    ref BackgroundState IBackgroundWork.State => ref _work;

    /// <summary>Takes the first of some requests, under the lock of their list; null where there is none.</summary>
    public static BudgetRequest? TakeFirst(LinkedList<BudgetRequest> requests, ShortLock listLock)
    {
        using (listLock.Enter())
        {
            BudgetRequest? first = requests.First?.Value;
            if (first is not null)
            {
                requests.RemoveFirst();
            }

            return first;
        }
    }

    /// <summary>Has the continuations of a task that the background thread completes run elsewhere. For its method's end.</summary>
    public static void KeepContinuationsOff()
    {
        if (SynchronizationContext.Current == s_ours)
        {
            SynchronizationContext.SetSynchronizationContext(s_noContinuations);
        }
    }

    /// <summary>Takes what it asks for, as much as its job needs by what is known now. Under the queue's lock.</summary>
    public bool TryTake()
    {
        Debug.Assert(Account.Lock.IsHeld && IsWaiting);
        Bytes = _job?.SizeFor(Account.Budget) ?? Bytes;
        return Account.TryTake(Bytes, overtakes: true);
    }

    /// <summary>Decides the outcome. Called once, under the queue's lock.</summary>
    public void Settle(BudgetOutcome outcome)
    {
        Debug.Assert(Account.Lock.IsHeld && IsWaiting && outcome != BudgetOutcome.Waiting, "The outcome is decided once, under the lock.");
        if (outcome is BudgetOutcome.Stuck or BudgetOutcome.Cancelled)
        {
            AtFailure = (Reservation?.UsedBytes ?? 0, Reservation?.PeakUsedBytes ?? 0);
            NeededBytes = Reservation is null ? Bytes : ByteCount.Add(Reservation.ChargedBytes, Math.Max(0, Charge));
            Reservation?.NoteRefusal(NeededBytes);
        }

        Volatile.Write(ref _outcome, (int)outcome);
    }

    /// <summary>Sets, before the request is posted, what runs once when the outcome is decided, where no thread is blocked.</summary>
    public void ContinueWith(Action<object?> continuation, object? state)
    {
        Debug.Assert(!IsPosted && Node.List is null, "The request has been posted.");
        _continuationState = state;
        _continuation = continuation;
    }

    /// <summary>Ends the wait. False where the outcome was decided before.</summary>
    public bool TryCancel() => Account.Budget!.TryCancel(this);

    /// <summary>Ends the wait, or gives back what was granted.</summary>
    public void Withdraw()
    {
        if (!TryCancel() && IsGranted)
        {
            Account.Return(Bytes);
        }
    }

    /// <summary>Wakes the waiting thread, or has the continuation run on another one. Never throws; not under a lock.</summary>
    public void Notify()
    {
        Debug.Assert(!IsWaiting && !Account.Lock.IsHeld);
        if (_event is not null)
        {
            _event.Set();
        }
        else
        {
            BackgroundThread.Shared.Queue(this);
        }
    }

    // What fails, because there is no managed memory, is repeated.
    void IBackgroundWork.DoWork()
    {
        if (IsWaiting)
        {
            // Its time is over. Where it is granted meanwhile, its waiter is told that.
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

    // Continuations of the library run here and now. The last of them keeps the user's off.
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

    // A refusal needs an exception, which the runtime would lose with the wait if there were no memory for it: then this is repeated.
    private void Resume()
    {
        GC.KeepAlive(IsGranted ? null : new byte[ProbeBytes]);
        Interlocked.Exchange(ref _continuation, null)?.Invoke(_continuationState);
    }

    private sealed class NoContinuations : SynchronizationContext;
}
