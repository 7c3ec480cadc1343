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

    /// <summary>The container leaves less, and nothing is outstanding that could be returned.</summary>
    NoRoom,
}

/// <summary>
/// One request that may have to wait for its part of the budget. A thread that waits blocks on its handle; asynchronous code awaits its
/// task. The queue allocates nothing.
/// </summary>
[DebuggerDisplay("{Bytes} bytes, {Outcome}, number {Serial}")]
internal class BudgetRequest : Completion
{
    // The reservation that begins when the request is granted. Its claim is computed at each attempt.
    private readonly ReservationAccount? _begins;
    private int _outcome;

    public BudgetRequest(BudgetAccount account, long bytes, bool blocks = false, ReservationAccount? begins = null)
    {
        Account = account;
        Bytes = bytes;
        _begins = begins;
        Node = new LinkedListNode<BudgetRequest>(this);
        Handle = blocks ? new ManualResetEvent(initialState: false) : null;
    }

    public BudgetAccount Account { get; }

    /// <summary>
    /// Gets the learned job that begins when it is granted. Null for a part of another job, which draws on that one's claim.
    /// </summary>
    public RunningJob? LearnedJob => _begins is { IsLearned: true } && Account is MemoryBudget ? _begins.Job : null;

    /// <summary>Gets how many bytes it asks for. If they are learned, they may change until the outcome is decided.</summary>
    public long Bytes { get; private set; }

    /// <summary>Gets the reservation that it is charged to. If that has ended, the one that encloses it, or null.</summary>
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

    /// <summary>Gets or sets whether it is growth of a job by name that was posted in the job's first minute.</summary>
    public bool IsOfYoungJob { get; set; }

    /// <summary>
    /// Gets whether it is growth up to twice the original size of a reservation. Earlier growth does not raise that limit.
    /// </summary>
    public bool IsWithinTwice => Reservation is { IsClosed: false } reservation
        && ByteCount.Add(reservation.ChargedBytes, Charge) <= ByteCount.Add(reservation.OriginalBytes, reservation.OriginalBytes);

    /// <summary>Gets whether it is growth that goes ahead of newcomers.</summary>
    /// <remarks>
    /// Claims that are learned are too small for all jobs that began before the first large one. Behind newcomers, each would get a part of
    /// what it needs, and the newcomers the rest.
    /// </remarks>
    public bool GoesAhead => (IsOfYoungJob && Reservation is not null) || IsWithinTwice;

    /// <summary>Counts it among the jobs of its kind that wait. Under the queue's lock.</summary>
    public void CountWaiting(int change)
    {
        if (_begins?.Job.Learned is { } learned)
        {
            learned.Waiting += change;
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

            // Growth that was only tried, or given up, does not show the job's need. A failed allocation does: it ends most jobs. A need
            // that never fits would make all later jobs of the name run alone with all that there is, in vain.
            if (outcome == BudgetOutcome.Stuck || (Handle is not null && Account is not ReservationAccount.Growth))
            {
                reservation?.NoteRefusal(Account.Budget!.FitsEver(NeededBytes) ? NeededBytes : AtFailure.PeakBytes);
            }
        }

        Volatile.Write(ref _outcome, (int)outcome);
    }

    /// <summary>Ends the wait. False if the outcome was decided before.</summary>
    public bool TryCancel() => Account.Budget!.TryCancel(this);

    /// <summary>
    /// Gets the permit to return once the request is granted. It is empty if a reservation has begun, which holds the bytes itself.
    /// </summary>
    public BudgetPermit Permit => _begins is null ? new BudgetPermit(Account, Bytes) : default;

    /// <summary>Ends the wait, or returns what was granted.</summary>
    public void Withdraw()
    {
        if (!TryCancel())
        {
            ReturnGrant();
        }
    }

    /// <summary>Wakes the waiting thread, or completes the task. Never throws; not called under a lock.</summary>
    public void Notify()
    {
        Debug.Assert(!IsWaiting && !Account.Lock.IsHeld);
        if (Handle is not null)
        {
            Handle.Set();
        }
        else
        {
            Complete();
        }
    }

    public override void DoWork()
    {
        if (IsWaiting)
        {
            // Its time is over. If it is granted meanwhile, its waiter gets the grant.
            TryCancel();
        }
        else
        {
            base.DoWork();
        }
    }

    /// <summary>Returns what was granted, if anything was, and nobody has taken it.</summary>
    protected void ReturnGrant(bool byFinalizer = false)
    {
        if (IsGranted && _begins is null)
        {
            Account.Return(Bytes, byFinalizer);
        }
        else if (IsGranted)
        {
            _begins!.Close(byFinalizer);
        }
    }
}
