using System.Collections.Generic;
using System.Diagnostics;
using System.Threading;

namespace Allocator.Budgeting;

/// <summary>
/// The requests that wait for a budget, under one short lock: decides which is served next, and notifies waiters. While the lock is held
/// nothing is allocated, no exception is made and no waiter is notified.
/// </summary>
/// <remarks>
/// Growth of a reservation up to twice its original size goes ahead of all others: they could not be served before running jobs end
/// anyway. Everything else that is served before an earlier request counts as an overtake of that one.
/// </remarks>
[DebuggerDisplay("{_count} waiting, of them {_ofReservations.Count} of reservations")]
internal sealed class BudgetQueue
{
    /// <summary>How many requests may be served before an earlier one that does not fit: then what comes back is kept for it.</summary>
    public const int MaximumOvertakes = 16;

    // How many requests behind the first are tried: a return of memory must not walk a long queue.
    private const int MaximumLookAhead = 64;

    private readonly MemoryBudget _budget;
    private readonly GrowthDeadlock _deadlock;

    // In order of arrival.
    private readonly LinkedList<BudgetRequest> _ofReservations = new();
    private readonly LinkedList<BudgetRequest> _others = new();
    private readonly LinkedList<BudgetRequest> _settled = new();
    private long _lastSerial;
    private int _count;

    // Until none waits.
    private bool _isSeen;

    public BudgetQueue(MemoryBudget budget, GrowthDeadlock deadlock)
    {
        _budget = budget;
        _deadlock = deadlock;
    }

    public ShortLock Lock { get; } = new();

    public bool HasWaiters => Count != 0;

    /// <summary>Gets how many requests wait.</summary>
    public int Count => Volatile.Read(ref _count);

    /// <summary>Counts a request that <see cref="Post"/> follows: a thread that gives memory back from here on serves the queue.</summary>
    /// <returns>Whether all threads that return memory see by now that some request waits.</returns>
    public bool Announce()
    {
        using (Lock.Enter())
        {
            Interlocked.Increment(ref _count);
            return _isSeen;
        }
    }

    /// <summary>
    /// Grants a request that was announced, if it fits and overtakes none too often, or lets it wait, or withdraws it. By now all threads
    /// that return memory see that it waits, and what was given back before is seen here.
    /// </summary>
    public void Post(BudgetRequest request, bool mayWait)
    {
        using (Lock.Enter())
        {
            Add(request);
            GrantWhatFits();
            _isSeen |= request.IsWaiting;
            if (request.IsWaiting && !mayWait)
            {
                Settle(request, BudgetOutcome.Withdrawn);
            }

            SettleAll();
            request.IsPosted = true;
        }

        NotifySettled();
    }

    /// <summary>Ends the wait of a request. False where its outcome was decided before.</summary>
    public bool TryWithdraw(BudgetRequest request)
    {
        using (Lock.Enter())
        {
            if (!request.IsWaiting || request.Node.List is null)
            {
                return false;
            }

            Settle(request, BudgetOutcome.Withdrawn);
            SettleAll();
        }

        NotifySettled();
        return true;
    }

    /// <summary>Settles what can be settled, and notifies the waiters. Never throws: it is called where memory is returned.</summary>
    public void Serve()
    {
        using (Lock.Enter())
        {
            SettleAll();
        }

        NotifySettled();
    }

    // Without the lock. The continuations of waiters run neither under it nor on this thread.
    private void NotifySettled()
    {
        while (TakeSettled() is BudgetRequest settled)
        {
            settled.Notify();
        }
    }

    private BudgetRequest? TakeSettled()
    {
        using (Lock.Enter())
        {
            BudgetRequest? settled = _settled.First?.Value;
            if (settled is not null)
            {
                _settled.RemoveFirst();
            }

            return settled;
        }
    }

    // The rest runs under the lock.
    private void Add(BudgetRequest request)
    {
        request.Serial = ++_lastSerial;
        (request.Reservation is null ? _others : _ofReservations).AddLast(request.Node);
    }

    private void SettleAll()
    {
        long admitted;
        do
        {
            // Before the look at what fits: what comes back behind that is served next, and leaves no request stuck.
            admitted = _budget.AdmittedBytes;
            GrantWhatFits();
        }
        while (FailStuckGrowth(admitted) || FailWhatFindsNothingOutstanding());
    }

    private void Settle(BudgetRequest request, BudgetOutcome outcome)
    {
        request.Node.List!.Remove(request.Node);
        request.Settle(outcome);
        _isSeen &= Interlocked.Decrement(ref _count) != 0;

        // Before that its thread is within Post, and reads the outcome itself.
        if (request.IsPosted)
        {
            _settled.AddLast(request.Node);
        }
    }

    private bool FailStuckGrowth(long admittedBytes)
    {
        ReservationAccount? stuck = _deadlock.Find(_ofReservations, admittedBytes);
        LinkedListNode<BudgetRequest>? next;
        for (LinkedListNode<BudgetRequest>? node = _ofReservations.First; stuck is not null && node is not null; node = next)
        {
            next = node.Next;
            if (node.Value.Reservation == stuck)
            {
                Settle(node.Value, BudgetOutcome.Stuck);
            }
        }

        return stuck is not null;
    }

    // What the container has no room for while nothing is outstanding would wait for other processes, and nothing reports when they end.
    private bool FailWhatFindsNothingOutstanding()
    {
        BudgetRequest? first = (_others.First ?? _ofReservations.First)?.Value;
        if (first is null || !_budget.MayRefuse || !_budget.Headroom!.IsNothingOutstanding())
        {
            return false;
        }

        Settle(first, BudgetOutcome.NoRoom);
        return true;
    }

    private void GrantWhatFits()
    {
        if (_budget.IsClosed)
        {
            CloseAll(_ofReservations);
            CloseAll(_others);
        }
        else if (HasWaiters)
        {
            ServeNewcomers(ServeReservations());
        }
    }

    private void CloseAll(LinkedList<BudgetRequest> requests)
    {
        while (requests.First is LinkedListNode<BudgetRequest> node)
        {
            Settle(node.Value, BudgetOutcome.Closed);
        }
    }

    // What a reservation uses of its own is always granted, and its growth up to twice its size goes ahead of all but earlier growth.
    // Returns the first such growth that still waits.
    private BudgetRequest? ServeReservations()
    {
        BudgetRequest? head = null;
        LinkedListNode<BudgetRequest>? next;
        for (LinkedListNode<BudgetRequest>? node = _ofReservations.First; node is not null; node = next)
        {
            next = node.Next;
            BudgetRequest request = node.Value;
            if (request.Account.IsClosed)
            {
                Settle(request, BudgetOutcome.Closed);
            }
            else if (request.Account.ChargeFor(request.Bytes) is long charge && charge <= 0)
            {
                TryGrant(request);
            }
            else if (GoesAhead(request, charge)
                && (head?.Overtaken >= MaximumOvertakes || !TryGrant(request, growth: head)))
            {
                head ??= request;
            }
        }

        return head;
    }

    // In order of arrival: what is wanted beyond twice a reservation, and what is wanted for none.
    private void ServeNewcomers(BudgetRequest? growth)
    {
        LinkedListNode<BudgetRequest>? ofReservation = _ofReservations.First;
        LinkedListNode<BudgetRequest>? other = _others.First;
        BudgetRequest? head = null;
        for (int looks = 0; looks <= MaximumLookAhead && _budget.AdmittedBytes < _budget.LimitInBytes; looks++)
        {
            while (ofReservation?.Value is BudgetRequest ahead && GoesAhead(ahead, ahead.Account.ChargeFor(ahead.Bytes)))
            {
                ofReservation = ofReservation!.Next;
            }

            bool isOther = ofReservation is null || other?.Value.Serial < ofReservation.Value.Serial;
            BudgetRequest? request = (isOther ? other : ofReservation)?.Value;
            if (request is null || head?.Overtaken >= MaximumOvertakes || growth?.Overtaken >= MaximumOvertakes)
            {
                return;
            }

            if (isOther)
            {
                other = other!.Next;
            }
            else
            {
                ofReservation = ofReservation!.Next;
            }

            if (!TryGrant(request, growth, head))
            {
                head ??= request;
            }
        }
    }

    // Twice what it was made with: what it has grown by since gives it no better place.
    private static bool GoesAhead(BudgetRequest request, long charge) =>
        request.Reservation is ReservationAccount reservation && reservation.ChargedBytes + charge <= 2 * reservation.OriginalBytes;

    private bool TryGrant(BudgetRequest request, BudgetRequest? growth = null, BudgetRequest? head = null)
    {
        bool isGranted = request.Account.TryTake(request.Bytes, overtakes: true);
        if (isGranted)
        {
            Settle(request, BudgetOutcome.Granted);
            growth?.Overtaken += 1;
            head?.Overtaken += 1;
        }

        return isGranted;
    }
}
