using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.Threading;
using System.Threading.Tasks;

namespace Allocator.Budgeting;

/// <summary>
/// One request that may have to wait for its part of the budget. All that waiting needs is allocated with it: the queue allocates nothing,
/// and a request is never lost for want of memory.
/// </summary>
internal sealed class BudgetRequest
{
    private static readonly WaitCallback s_complete = static request => ((BudgetRequest)request!).Complete();

    // Of a waiting thread. Set by the thread that returns memory, so it must neither fail nor be interrupted: an event of the system's.
    // Never disposed, because it may be set when the wait has timed out.
    private readonly ManualResetEvent? _event;

    // Of an asynchronous wait. Completed by an item of the thread pool, where continuations may run, or by the thread that watches its
    // time.
    private readonly TaskCompletionSource<bool>? _completion;
    private readonly DeadlineThread? _deadlines;

    private int _outcome;

    /// <summary>Makes a request.</summary>
    /// <param name="account">What is charged.</param>
    /// <param name="bytes">How much is asked for.</param>
    /// <param name="blocks">Whether a thread is going to wait for it, rather than a task.</param>
    /// <param name="deadlines">What completes its task, where that has a time to wait; null for the thread pool.</param>
    public BudgetRequest(BudgetAccount account, long bytes, bool blocks = false, DeadlineThread? deadlines = null)
    {
        Debug.Assert(!blocks || deadlines is null);
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

        if (deadlines is not null)
        {
            _deadlines = deadlines;
            DeadlineNode = new LinkedListNode<BudgetRequest>(this);
        }

        // Runs the type initializer here: one that fails where memory is returned, for want of managed memory, fails for ever.
        GC.KeepAlive(s_complete);
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
    public (long HeldBytes, long PeakBytes) AtFailure { get; private set; }

    /// <summary>
    /// Gets what the budget would have been charged with for this request, with the rest of its reservation, when it was not granted.
    /// </summary>
    public long NeededBytes { get; private set; }

    /// <summary>Gets its place in the queue.</summary>
    public LinkedListNode<BudgetRequest> Node { get; }

    /// <summary>Gets its place among the requests that have a time to wait; null where it has none.</summary>
    public LinkedListNode<BudgetRequest>? DeadlineNode { get; }

    /// <summary>Gets or sets when that time is over. Under the lock of <see cref="DeadlineThread"/>.</summary>
    public long Due { get; set; }

    /// <summary>Gets or sets its number in order of arrival. Under the queue's lock.</summary>
    public long Serial { get; set; }

    /// <summary>Gets or sets how often later requests were served while this one was the first of its kind. Under the queue's lock.</summary>
    public int Overtaken { get; set; }

    /// <summary>Gets or sets the next one whose waiter has still to be notified.</summary>
    public BudgetRequest? NextSettled { get; set; }

    /// <summary>Decides the outcome. Called once, under the queue's lock.</summary>
    public void Settle(BudgetOutcome outcome)
    {
        if (outcome is BudgetOutcome.Stuck or BudgetOutcome.Withdrawn)
        {
            AtFailure = (Reservation?.UsedBytes ?? 0, Reservation?.PeakUsedBytes ?? 0);
            NeededBytes = Reservation is null ? Bytes : Reservation.ChargedBytes + Math.Max(0, Account.ChargeFor(Bytes));
        }

        Volatile.Write(ref _outcome, (int)outcome);
    }

    /// <summary>Wakes the waiting thread, or has the task completed on the thread pool. Not under a lock.</summary>
    /// <returns>False where there is no memory for that: the caller has to try again later.</returns>
    public bool TryNotify()
    {
        if (_event is not null)
        {
            _event.Set();
            return true;
        }

        if (_deadlines is not null)
        {
            _deadlines.Complete(this);
            return true;
        }

        bool wasInterrupted = false;
        try
        {
            while (true)
            {
                try
                {
                    ThreadPool.UnsafeQueueUserWorkItem(s_complete, this);
                    return true;
                }
                catch (ThreadInterruptedException)
                {
                    // From a lock within the thread pool. The interrupt is meant for what the caller does next.
                    wasInterrupted = true;
                }
                catch (OutOfMemoryException)
                {
                    return false;
                }
            }
        }
        finally
        {
            if (wasInterrupted)
            {
                Thread.CurrentThread.Interrupt();
            }
        }
    }

    /// <summary>Completes the task, and runs its continuations: on the thread pool, or where they are known to be short.</summary>
    public void Complete()
    {
        try
        {
            _completion!.TrySetResult(true);
        }
        catch (OutOfMemoryException)
        {
            Account.Budget!.NotifyLater(this);
        }
    }
}
