using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.Threading;
using System.Threading.Tasks;

namespace Allocator.Budgeting;

/// <summary>What became of a request for a part of the budget.</summary>
internal enum BudgetOutcome
{
    /// <summary>Not decided yet.</summary>
    Waiting,

    /// <summary>Its bytes have been taken.</summary>
    Granted,

    /// <summary>The caller gave up, or did not want to wait.</summary>
    Withdrawn,

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
internal sealed class BudgetRequest : IBackgroundWork
{
    // Of a waiting thread. Set by the thread that returns memory, so it must neither fail nor be interrupted: an event of the system's.
    // Never disposed, because it may be set when the wait has timed out.
    private readonly ManualResetEvent? _event;

    // Of an asynchronous wait. Completed by an item of the thread pool, where continuations may run, or by the thread that watches its
    // time.
    private readonly TaskCompletionSource<bool>? _completion;
    private readonly WaiterThread? _thread;

    private BackgroundState _work;
    private int _outcome;

    /// <summary>Makes a request.</summary>
    /// <param name="account">What is charged.</param>
    /// <param name="bytes">How much is asked for.</param>
    /// <param name="blocks">Whether a thread is going to wait for it, rather than a task.</param>
    /// <param name="thread">What completes its task, where that has a time to wait; null for the thread pool.</param>
    public BudgetRequest(BudgetAccount account, long bytes, bool blocks = false, WaiterThread? thread = null)
    {
        Debug.Assert(!blocks || thread is null);
        Account = account;
        Bytes = bytes;
        Reservation = account.OutermostReservation;
        Node = new LinkedListNode<BudgetRequest>(this);
        if (blocks)
        {
            _event = new ManualResetEvent(initialState: false);
        }
        else
        {
            _completion = new TaskCompletionSource<bool>();
        }

        if (thread is not null)
        {
            _thread = thread;
            DueNode = new LinkedListNode<BudgetRequest>(this);
        }
    }

    public BudgetAccount Account { get; }

    public long Bytes { get; }

    /// <summary>Gets the reservation that the bytes are wanted for; null for none.</summary>
    public ReservationAccount? Reservation { get; }

    /// <summary>Gets what has become of the request. Decided once, under the queue's lock.</summary>
    public BudgetOutcome Outcome => (BudgetOutcome)Volatile.Read(ref _outcome);

    public bool IsWaiting => Outcome == BudgetOutcome.Waiting;

    public bool IsGranted => Outcome == BudgetOutcome.Granted;

    /// <summary>Gets what completes when the outcome is decided. Only of requests that block no thread.</summary>
    public Task Settled => _completion!.Task;

    /// <summary>Gets what is set when the outcome is decided. Only of requests that block a thread.</summary>
    public WaitHandle Handle => _event!;

    /// <summary>Gets what the reservation had outstanding when its growth failed, and the most that it ever had.</summary>
    public (long UsedBytes, long PeakBytes) AtFailure { get; private set; }

    /// <summary>
    /// Gets what the budget would have been charged with for this request, with the rest of its reservation, when it was not granted.
    /// </summary>
    public long NeededBytes { get; private set; }

    /// <summary>Gets its place in the queue.</summary>
    public LinkedListNode<BudgetRequest> Node { get; }

    /// <summary>Gets its place among the requests that have a time to wait; null where it has none.</summary>
    public LinkedListNode<BudgetRequest>? DueNode { get; }

    /// <summary>Gets or sets when that time is over. Under the lock of <see cref="WaiterThread"/>.</summary>
    public long Due { get; set; }

    /// <summary>Gets or sets its number in order of arrival. Under the queue's lock, as what follows.</summary>
    public long Serial { get; set; }

    /// <summary>Gets or sets how often later requests were served while this one was the first of its kind.</summary>
    public int Overtaken { get; set; }

    /// <summary>Gets or sets whether the thread that posts it reads the outcome from here on by being notified.</summary>
    public bool IsPosted { get; set; }

    /// <summary>Gets or sets the next one whose waiter has still to be notified.</summary>
    public BudgetRequest? NextSettled { get; set; }

    ref BackgroundState IBackgroundWork.State => ref _work;

    /// <summary>Decides the outcome. Called once, under the queue's lock.</summary>
    public void Settle(BudgetOutcome outcome)
    {
        Debug.Assert(IsWaiting && outcome != BudgetOutcome.Waiting);
        if (outcome is BudgetOutcome.Stuck or BudgetOutcome.Withdrawn)
        {
            AtFailure = (Reservation?.UsedBytes ?? 0, Reservation?.PeakUsedBytes ?? 0);
            NeededBytes = Reservation is null ? Bytes : Reservation.ChargedBytes + Math.Max(0, Account.ChargeFor(Bytes));
        }

        Volatile.Write(ref _outcome, (int)outcome);
    }

    /// <summary>
    /// Wakes the waiting thread, or has the task completed on another one. Never throws, and needs no memory. Not under a lock.
    /// </summary>
    public void Notify()
    {
        if (_event is not null)
        {
            _event.Set();
        }
        else if (_thread is not null)
        {
            _thread.Complete(this);
        }
        else
        {
            Background.Queue(this);
        }
    }

    /// <summary>Completes the task, and runs its continuations. What fails for want of memory may be repeated.</summary>
    public void Complete() => _completion!.TrySetResult(true);

    void IBackgroundWork.DoWork() => Complete();

    /// <summary>Requests in the order in which their outcome was decided, linked through themselves: adding one needs no memory.</summary>
    public struct Chain
    {
        private BudgetRequest? _first;
        private BudgetRequest? _last;

        public void Add(BudgetRequest request)
        {
            Debug.Assert(request.NextSettled is null);
            if (_last is null)
            {
                _first = request;
            }
            else
            {
                _last.NextSettled = request;
            }

            _last = request;
        }

        /// <summary>Removes the first one; null where there is none.</summary>
        public BudgetRequest? Take()
        {
            BudgetRequest? first = _first;
            if (first is not null)
            {
                _first = first.NextSettled;
                _last = _first is null ? null : _last;
                first.NextSettled = null;
            }

            return first;
        }

        /// <summary>Removes all, and returns the first of them.</summary>
        public BudgetRequest? TakeAll()
        {
            BudgetRequest? first = _first;
            this = default;
            return first;
        }
    }
}
