using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.Threading;
using Allocator.Native;

namespace Allocator.Budgeting;

/// <summary>
/// The requests that wait for a budget, in order of arrival, under one short lock. Nothing is allocated, no exception is made and no waiter is notified while it is held.
/// </summary>
/// <remarks>
/// Growth of a reservation up to twice its size goes ahead of all others: they could not be served before running jobs end anyway. Everything else that is served before an earlier request counts as an overtake of that one.
/// </remarks>
internal sealed class BudgetQueue
{
    /// <summary>How many requests may be served before an earlier one that does not fit yet. From then on what comes back accumulates for it.</summary>
    public const int MaximumOvertakes = 16;

    // How many requests behind the first are tried: a return of memory must not walk a long queue.
    private const int MaximumLookAhead = 64;

    private static readonly TimeSpan s_shortestPatience = TimeSpan.FromSeconds(5);

    private readonly MemoryBudget _budget;
    private readonly Clock _clock;
    private readonly long _patienceMilliseconds;
    private readonly ClockTimer? _timer;
    private readonly LinkedList<BudgetRequest> _ofReservations = new();
    private readonly LinkedList<BudgetRequest> _others = new();
    private int _waiting;
    private int _unnotified;

    // Under the lock.
    private BudgetRequest? _posting;
    private BudgetRequest? _settled;
    private BudgetRequest? _lastSettled;
    private long _lastSerial;
    private long _looks;
    private long? _stuckSince;
    private long _timerDue;

    /// <param name="budget">The budget.</param>
    /// <param name="clock">The time.</param>
    /// <param name="timeout">How long synchronous calls wait; below zero for ever.</param>
    public BudgetQueue(MemoryBudget budget, Clock clock, TimeSpan timeout)
    {
        _budget = budget;
        _clock = clock;
        _patienceMilliseconds = timeout < TimeSpan.Zero
            ? long.MaxValue
            : (long)Math.Max(timeout.TotalMilliseconds, s_shortestPatience.TotalMilliseconds);

        // Made now: a request that waits for it must not be lost because it cannot be made later.
        _timer = _patienceMilliseconds == long.MaxValue ? null : clock.CreateTimer(OnTimer);
    }

    public ShortLock Lock { get; } = new();

    /// <summary>Gets whether any request waits.</summary>
    public bool HasWaiters => Volatile.Read(ref _waiting) != 0;

    /// <summary>Gets whether any request waits, or a waiter has still to be notified.</summary>
    public bool HasWork => HasWaiters || Volatile.Read(ref _unnotified) != 0;

    public void Post(BudgetRequest request, bool mayWait)
    {
        BudgetRequest? settled;
        long due;
        using (Lock.Enter())
        {
            request.Serial = ++_lastSerial;
            (request.Reservation is null ? _others : _ofReservations).AddLast(request.Node);

            // Counted first: a thread that gives memory back from here on serves the queue, and what was given back before is seen below.
            Interlocked.Increment(ref _waiting);
            _posting = request;
            GrantWhatFits();
            if (request.IsWaiting && !mayWait)
            {
                Settle(request, BudgetOutcome.Withdrawn);
            }

            (settled, due) = ServeAll();
            _posting = null;
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

            Settle(request, BudgetOutcome.Withdrawn);
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
        _timer?.Dispose();
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

            AddSettled(first, last);
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
            StartTimer(due);
        }
    }

    private void StartTimer(long due)
    {
        bool isStarted = false;
        bool wasInterrupted = false;
        while (!isStarted)
        {
            try
            {
                _timer!.Start(TimeSpan.FromMilliseconds(Math.Max(1, due - _clock.NowMilliseconds)));
                isStarted = true;
            }
            catch (ThreadInterruptedException)
            {
                // From a lock within the timer. The interrupt is meant for what the caller does next.
                wasInterrupted = true;
            }
            catch (Exception e) when (e is OutOfMemoryException or ObjectDisposedException)
            {
                // The tick of the trimmer serves waiters too; and where the allocator was disposed none waits.
                isStarted = true;
            }
        }

        if (wasInterrupted)
        {
            Thread.CurrentThread.Interrupt();
        }
    }

    private void OnTimer()
    {
        using (Lock.Enter())
        {
            _timerDue = 0;
        }

        Background.Run(_budget);
    }

    // The rest runs under the lock.
    private (BudgetRequest? Settled, long Due) ServeAll()
    {
        do
        {
            GrantWhatFits();
        }
        while (FailIfStuck() || FailIfNothingIsOut());

        BudgetRequest? settled = _settled;
        _settled = _lastSettled = null;
        Volatile.Write(ref _unnotified, 0);
        long due = 0;
        if (_stuckSince is long since && _timer is not null && _timerDue != since + _patienceMilliseconds)
        {
            due = _timerDue = since + _patienceMilliseconds;
        }

        return (settled, due);
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
            else if (GoesAhead(request, charge) && (head?.Overtaken >= MaximumOvertakes || !TryGrantBefore(request, head, null)))
            {
                head ??= request;
            }
        }

        return head;
    }

    // In order of arrival, what beyond twice its reservation is wanted, and what is wanted for none.
    private void ServeNewcomers(BudgetRequest? growth)
    {
        LinkedListNode<BudgetRequest>? ofReservation = _ofReservations.First;
        LinkedListNode<BudgetRequest>? other = _others.First;
        BudgetRequest? head = null;
        for (int looks = 0; looks <= MaximumLookAhead && _budget.UsedBytes < _budget.LimitInBytes; looks++)
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

            if (!TryGrantBefore(request, growth, head))
            {
                head ??= request;
            }
        }
    }

    private static bool GoesAhead(BudgetRequest request, long charge) =>
        request.Reservation is ReservationAccount reservation && reservation.ChargedBytes + charge <= 2 * reservation.ReservedBytes;

    private bool TryGrantBefore(BudgetRequest request, BudgetRequest? growth, BudgetRequest? head)
    {
        bool isGranted = TryGrant(request);
        if (isGranted && growth is not null)
        {
            growth.Overtaken++;
        }

        if (isGranted && head is not null)
        {
            head.Overtaken++;
        }

        return isGranted;
    }

    private bool TryGrant(BudgetRequest request)
    {
        bool isGranted = request.Account.TryTake(request.Bytes, overtakes: true);
        if (isGranted)
        {
            Settle(request, BudgetOutcome.Granted);
        }

        return isGranted;
    }

    private void Settle(BudgetRequest request, BudgetOutcome outcome)
    {
        request.Node.List!.Remove(request.Node);
        request.Settle(outcome);
        Interlocked.Decrement(ref _waiting);

        // The one that is posted just now has not begun to wait: its thread reads the outcome.
        if (request != _posting)
        {
            AddSettled(request, request);
        }
    }

    private void AddSettled(BudgetRequest first, BudgetRequest last)
    {
        if (_lastSettled is null)
        {
            _settled = first;
        }
        else
        {
            _lastSettled.NextSettled = first;
        }

        _lastSettled = last;
    }

    // Growth of reservations that all wait for each other would wait for ever, and where there is memory outside of reservations it may.
    // The youngest fails then, and the others go on.
    private bool FailIfStuck()
    {
        if (FindYoungest() is not ReservationAccount youngest)
        {
            _stuckSince = null;
            return false;
        }

        if (_budget.UsedBytes > _budget.ReservedBytes)
        {
            long now = _clock.NowMilliseconds;
            long since = _stuckSince ??= now;
            if (now - since < _patienceMilliseconds)
            {
                return false;
            }
        }

        _stuckSince = null;
        LinkedListNode<BudgetRequest>? next;
        for (LinkedListNode<BudgetRequest>? node = _ofReservations.First; node is not null; node = next)
        {
            next = node.Next;
            if (node.Value.Reservation == youngest)
            {
                Settle(node.Value, BudgetOutcome.Stuck);
            }
        }

        return true;
    }

    // Returns the youngest reservation that waits; null where one that holds memory does not wait. One that holds nothing waits like a request without a reservation.
    private ReservationAccount? FindYoungest()
    {
        long ofWaiting = 0;
        ReservationAccount? youngest = null;
        _looks++;
        foreach (BudgetRequest request in _ofReservations)
        {
            ReservationAccount reservation = request.Reservation!;
            if (reservation.LastLook != _looks && reservation.ChargedBytes > 0)
            {
                reservation.LastLook = _looks;
                ofWaiting += reservation.ChargedBytes;
                youngest = youngest?.Serial > reservation.Serial ? youngest : reservation;
            }
        }

        return ofWaiting < _budget.ReservedBytes ? null : youngest;
    }

    // What the container has no room for while nothing is out would wait for others than this process: nobody tells when they end.
    private bool FailIfNothingIsOut()
    {
        bool fails = (_others.First ?? _ofReservations.First) is not null && _budget.Headroom?.IsNothingOut() == true;
        if (fails)
        {
            Settle((_others.First ?? _ofReservations.First)!.Value, BudgetOutcome.NoRoom);
        }

        return fails;
    }
}
