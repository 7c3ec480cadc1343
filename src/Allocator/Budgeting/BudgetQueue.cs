using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.Threading;
using Allocator.Native;

namespace Allocator.Budgeting;

/// <summary>
/// The queue of a budget, under one short lock: settles requests and notifies their waiters. While the lock is held nothing is allocated,
/// no exception is made and no waiter is notified.
/// </summary>
/// <remarks><see cref="WaitingRequests"/> decides who is next, <see cref="GrowthDeadlock"/> who can never be.</remarks>
internal sealed class BudgetQueue
{
    /// <summary>How many requests may be served before an earlier one that does not fit yet. From then on what comes back accumulates for it.</summary>
    public const int MaximumOvertakes = 16;

    private readonly MemoryBudget _budget;
    private readonly WaitingRequests _requests;
    private readonly GrowthDeadlock _deadlock;
    private int _unnotified;

    /// <param name="budget">The budget.</param>
    /// <param name="clock">The time.</param>
    /// <param name="timeout">How long synchronous calls wait; below zero for ever.</param>
    public BudgetQueue(MemoryBudget budget, Clock clock, TimeSpan timeout)
    {
        _budget = budget;
        _requests = new WaitingRequests(budget);
        _deadlock = new GrowthDeadlock(budget, clock, timeout);
    }

    public ShortLock Lock { get; } = new();

    /// <summary>Gets whether any request waits.</summary>
    public bool HasWaiters => _requests.Count != 0;

    /// <summary>Gets whether any request waits, or a waiter has still to be notified.</summary>
    public bool HasWork => HasWaiters || Volatile.Read(ref _unnotified) != 0;

    public void Post(BudgetRequest request, bool mayWait)
    {
        BudgetRequest? settled;
        long due;
        using (Lock.Enter())
        {
            // Counted first: a thread that gives memory back from here on serves the queue, and what was given back before is seen below.
            _requests.Add(request);
            _requests.Posting = request;
            _requests.GrantWhatFits();
            if (request.IsWaiting && !mayWait)
            {
                _requests.Settle(request, BudgetOutcome.Withdrawn);
            }

            (settled, due) = ServeAll();
            _requests.Posting = null;
        }

        Finish(settled, due);
    }

    public bool TryWithdraw(BudgetRequest request)
    {
        BudgetRequest? settled;
        long due;
        using (Lock.Enter())
        {
            if (!request.IsWaiting || request.Node.List is null)
            {
                return false;
            }

            _requests.Settle(request, BudgetOutcome.Withdrawn);
            (settled, due) = ServeAll();
        }

        Finish(settled, due);
        return true;
    }

    /// <summary>Settles what can be settled, and notifies the waiters. Never throws: it is called where memory is returned.</summary>
    public void Serve()
    {
        BudgetRequest? settled;
        long due;
        using (Lock.Enter())
        {
            (settled, due) = ServeAll();
        }

        Finish(settled, due);
    }

    public void Close()
    {
        Debug.Assert(_budget.IsClosed);
        Serve();
        _deadlock.Dispose();
    }

    public void NotifyLater(BudgetRequest first)
    {
        using (Lock.Enter())
        {
            BudgetRequest last = first;
            while (last.NextSettled is BudgetRequest next)
            {
                last = next;
            }

            _requests.AddSettled(first, last);
            Volatile.Write(ref _unnotified, 1);
        }
    }

    // Without the lock. The continuations of waiters run neither under it nor on this thread.
    private void Finish(BudgetRequest? settled, long due)
    {
        while (settled is not null)
        {
            BudgetRequest? next = settled.NextSettled;
            settled.NextSettled = null;
            if (!settled.TryNotify())
            {
                // Retried with the next return, or at the next tick of the trimmer.
                settled.NextSettled = next;
                NotifyLater(settled);
                break;
            }

            settled = next;
        }

        if (due != 0)
        {
            _deadlock.StartTimer(due);
        }
    }

    // Under the lock.
    private (BudgetRequest? Settled, long Due) ServeAll()
    {
        _requests.GrantWhatFits();
        while (FailStuckGrowth() || FailWhatFindsNothingOut())
        {
            _requests.GrantWhatFits();
        }

        Volatile.Write(ref _unnotified, 0);
        return (_requests.TakeSettled(), _deadlock.TakeDue());
    }

    private bool FailStuckGrowth()
    {
        ReservationAccount? stuck = _deadlock.Find(_requests.OfReservations);
        LinkedListNode<BudgetRequest>? next;
        for (LinkedListNode<BudgetRequest>? node = _requests.OfReservations.First; stuck is not null && node is not null; node = next)
        {
            next = node.Next;
            if (node.Value.Reservation == stuck)
            {
                _requests.Settle(node.Value, BudgetOutcome.Stuck);
            }
        }

        return stuck is not null;
    }

    // What the container has no room for while nothing is out would wait for others than this process: nobody tells when they end.
    private bool FailWhatFindsNothingOut()
    {
        bool fails = _budget.MayRefuse && _requests.First is not null && _budget.Headroom!.IsNothingOut();
        if (fails)
        {
            _requests.Settle(_requests.First!, BudgetOutcome.NoRoom);
        }

        return fails;
    }
}
