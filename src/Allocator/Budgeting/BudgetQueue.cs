using Allocator.Native;

namespace Allocator.Budgeting;

/// <summary>
/// The requests that wait for a budget, under one short lock. It decides which is served next, and notifies waiters. While the lock is
/// held, nothing is allocated, no exception is made and no waiter is notified.
/// </summary>
/// <remarks>
/// Growth of a reservation up to twice its original size goes ahead of all others, without a bound: the others could not be served before
/// running jobs end anyway. So does all growth of a job by name in its first minute, whose claim was learned and may be too small. All
/// other requests are newcomers. A newcomer that is served before an earlier request overtakes it.
/// </remarks>
[DebuggerDisplay("{_budget.Waiters} waiting, of them {_ofReservations.Count} of reservations")]
internal sealed class BudgetQueue
{
    /// <summary>
    /// How many later requests may overtake the first in line while it does not fit. After that, returned memory is kept for it.
    /// </summary>
    public const int MaximumOvertakes = 16;

    /// <summary>How long to wait at least for memory that may never come back.</summary>
    public const int LeastPatienceMilliseconds = 5000;

    // How many requests behind the first are tried: a return of memory must not walk a long queue.
    private const int MaximumLookAhead = 64;

    private readonly MemoryBudget _budget;
    private readonly Clock _clock;
    private readonly long _patienceMilliseconds;

    // In order of arrival.
    private readonly LinkedList<BudgetRequest> _ofReservations = new();
    private readonly LinkedList<BudgetRequest> _others = new();
    private readonly LinkedList<BudgetRequest> _settled = new();
    private long _lastSerial;

    private readonly KeptRoom _room;
    private readonly Patience _patienceForGrowth;
    private long _newcomersServed;

    // The number of passes over the newcomers.
    private long _passes;

    // The number of looks for stuck reservations, and the time since when only memory outside of reservations could help.
    private long _looks;
    private long? _stuckSince;

    /// <summary>Makes a queue for a budget. The timeout is for synchronous calls; below zero they wait for ever.</summary>
    public BudgetQueue(MemoryBudget budget, Clock clock, TimeSpan timeout)
    {
        _budget = budget;
        _clock = clock;
        _room = new KeptRoom(budget, clock);
        _patienceForGrowth = new Patience(budget, clock);
        long milliseconds = Math.Max((long)timeout.TotalMilliseconds, LeastPatienceMilliseconds);
        _patienceMilliseconds = timeout < TimeSpan.Zero ? long.MaxValue : milliseconds;
    }

    public ShortLock Lock { get; } = new();

    /// <summary>Grants a request if it fits and overtakes no other too often. Otherwise it waits, or is withdrawn.</summary>
    public void Post(BudgetRequest request, bool mayWait)
    {
        Debug.Assert(request.IsWaiting && request.Node.List is null && request.Bytes > 0, "A request is posted once.");
        using (Lock.Enter())
        {
            request.Serial = ++_lastSerial;
            request.ServedBefore = _newcomersServed;
            request.IsOfYoungJob = request.Reservation is { IsLearned: true } grows && !grows.Job.IsLong(_clock.NowMilliseconds);
            (request.Reservation is null ? _others : _ofReservations).AddLast(request.Node);
            request.CountWaiting(1);

            // A full barrier: a thread that returns memory subtracts first and reads this count after, so either it sees the request, or
            // the request sees what it returned.
            _budget.CountWaiter(1, request.Node.List == _ofReservations);
            if (!mayWait)
            {
                GrantWhatFits();
                if (request.IsWaiting)
                {
                    Settle(request, BudgetOutcome.Cancelled);
                }
            }

            SettleAll();
            request.IsPosted = true;
        }

        NotifySettled();
    }

    /// <summary>Ends the wait of a request. False if its outcome was decided before.</summary>
    public bool TryCancel(BudgetRequest request)
    {
        using (Lock.Enter())
        {
            if (!request.IsWaiting || request.Node.List is null)
            {
                return false;
            }

            Settle(request, BudgetOutcome.Cancelled);
            SettleAll();
        }

        NotifySettled();
        return true;
    }

    /// <summary>Settles every request that can be settled, and notifies the waiters. Never throws: returns of memory call it.</summary>
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
        Debug.Assert(!Lock.IsHeld);
        while (TakeSettled() is BudgetRequest settled)
        {
            settled.Notify();
        }
    }

    private BudgetRequest? TakeSettled()
    {
        using ShortLock.Section section = Lock.Enter();
        BudgetRequest? first = _settled.First?.Value;
        if (first is not null)
        {
            _settled.RemoveFirst();
        }

        return first;
    }

    // The rest runs under the lock.
    private void SettleAll()
    {
        Debug.Assert(Lock.IsHeld);
        bool mayFail;
        long outstanding;
        do
        {
            // Read before the requests are tried: memory that comes back later starts another round, so no request is stuck.
            mayFail = _budget.MayFailGrowth;
            outstanding = mayFail ? _budget.OutstandingBytes : 0;
            GrantWhatFits();
        }
        while ((mayFail && FailStuckGrowth(outstanding)) || FailWhatFindsNothingOutstanding());
    }

    private void Settle(BudgetRequest request, BudgetOutcome outcome)
    {
        Debug.Assert(Lock.IsHeld);
        Debug.Assert(request.Node.List == _others || request.Node.List == _ofReservations, "A request is settled once, while it waits.");
        bool isOfReservation = request.Node.List == _ofReservations;
        request.Node.List!.Remove(request.Node);
        request.CountWaiting(-1);
        request.Settle(outcome);
        _budget.CountWaiter(-1, isOfReservation);
        _room.End(request);
        if (!_budget.HasWaiters)
        {
            _budget.LeaveLine();
        }

        // A request that is not posted yet needs no notification: its thread is within Post, and reads the outcome after it.
        if (request.IsPosted)
        {
            _settled.AddLast(request.Node);
        }
    }

    // Reservations may wait for each other. Memory outside of reservations that is outstanding, or was just before the last look, may
    // still come back: they wait for it, but not for ever. Ticks call this too, as long as any request waits.
    private bool FailStuckGrowth(long outstandingBytes)
    {
        if (FindStuck() is not { } stuck)
        {
            _stuckSince = null;
            return false;
        }

        bool mayComeBack = Math.Max(outstandingBytes, _budget.OutstandingBytes) > _budget.ReservedBytes;
        if (mayComeBack || _room.IsPassedInSpite)
        {
            _stuckSince ??= _clock.NowMilliseconds;
            if (_clock.NowMilliseconds - _stuckSince < (mayComeBack ? _patienceMilliseconds : LeastPatienceMilliseconds))
            {
                return false;
            }
        }

        if (GrantOutOfTurn())
        {
            _stuckSince = null;
            return true;
        }

        // In a container the background thread makes room first: garbage looks like memory that is used.
        if (_budget.KeepsMinimumFree && !_budget.MayRefuse)
        {
            _budget.IsStuck = true;
            return false;
        }

        _stuckSince = null;
        LinkedListNode<BudgetRequest>? next;
        for (LinkedListNode<BudgetRequest>? node = _ofReservations.First; node is not null; node = next)
        {
            next = node.Next;
            if (node.Value.Reservation == stuck)
            {
                Settle(node.Value, BudgetOutcome.Stuck);
            }
        }

        return true;
    }

    // Of reservations that all wait, one may wait only because others are ahead of it. These cannot be served before one of them goes on;
    // unless it has parts, of which one waits and another is about to return memory. So it counts as overtaking.
    private bool GrantOutOfTurn()
    {
        foreach (BudgetRequest request in _ofReservations)
        {
            if (request.Reservation?.LastLook == _looks && TryGrant(request))
            {
                if (_room.IsKept)
                {
                    _room.NoteOvertaken();
                }

                return true;
            }
        }

        return false;
    }

    // The youngest reservation that holds memory, if all that hold memory wait for more: then none could ever go on. A reservation that
    // holds nothing waits like a request without one.
    private ReservationAccount? FindStuck()
    {
        Debug.Assert(Lock.IsHeld);
        long ofWaiting = 0;
        ReservationAccount? youngest = null;
        _looks++;
        foreach (BudgetRequest request in _ofReservations)
        {
            if (request.Reservation is { IsClosed: false, ChargedBytes: > 0 } reservation && reservation.LastLook != _looks)
            {
                reservation.LastLook = _looks;
                ofWaiting += reservation.ChargedBytes;
                youngest = youngest?.Serial > reservation.Serial ? youngest : reservation;
            }
        }

        return ofWaiting < _budget.ReservedBytes ? null : youngest;
    }

    // If nothing is outstanding, the request would wait for other processes to free memory, which nothing reports. A job that a rule holds
    // back waits for the base to be read.
    private bool FailWhatFindsNothingOutstanding()
    {
        Debug.Assert(Lock.IsHeld);
        BudgetRequest? first = (_others.First ?? _ofReservations.First)?.Value;
        bool fails = first is not null && first.LearnedJob is not { Hold: not JobHold.None }
            && _budget.MayRefuse && _budget.Headroom!.AdmittedBytes == 0;
        if (fails)
        {
            Settle(first!, BudgetOutcome.NoRoom);
        }

        return fails;
    }

    private void GrantWhatFits()
    {
        Debug.Assert(Lock.IsHeld);
        if (_budget.IsClosed)
        {
            while ((_ofReservations.First ?? _others.First) is LinkedListNode<BudgetRequest> node)
            {
                Settle(node.Value, BudgetOutcome.Closed);
            }
        }
        else if (_budget.HasWaiters)
        {
            ServeNewcomers(ServeReservations());
        }
    }

    // What a reservation uses of its own is always granted, and growth may go ahead of all newcomers. Returns the first such growth that
    // still waits. Growth of young jobs beyond twice passes growth up to twice as often as a newcomer may.
    private BudgetRequest? ServeReservations()
    {
        BudgetRequest? first = null;
        BudgetRequest? firstWithinTwice = null;
        LinkedListNode<BudgetRequest>? next;
        for (LinkedListNode<BudgetRequest>? node = _ofReservations.First; node is not null; node = next)
        {
            next = node.Next;
            BudgetRequest request = node.Value;
            if (request.Account.IsClosed)
            {
                Settle(request, BudgetOutcome.Closed);
            }
            else if (request.Charge <= 0 || request.IsWithinTwice)
            {
                if (!TryGrant(request))
                {
                    first ??= request;
                    firstWithinTwice ??= request;
                }
            }
            else if (request.GoesAhead)
            {
                if (IsOvertakenTooOften(firstWithinTwice) || !TryGrant(request))
                {
                    first ??= request;
                }
                else if (firstWithinTwice is not null)
                {
                    _newcomersServed++;
                }
            }
        }

        if (first is not null && _patienceForGrowth.IsOver(first.Serial, isKept: IsOvertakenTooOften(first)))
        {
            first.ServedBefore = _newcomersServed;
            firstWithinTwice?.ServedBefore = _newcomersServed;
        }

        return first;
    }

    private bool IsOvertakenTooOften(BudgetRequest? growth) => growth?.ServedBefore <= _newcomersServed - MaximumOvertakes;

    // In order of arrival: growth that does not go ahead, and requests without a reservation. Growth that waits is ahead of all of them, so
    // each that is served overtakes it.
    private void ServeNewcomers(BudgetRequest? growth)
    {
        LinkedListNode<BudgetRequest>? other = _others.First;
        LinkedListNode<BudgetRequest>? ofReservation = _ofReservations.First;
        _passes++;
        _room.GiveUpInVain();
        BudgetRequest? first = null;
        for (int looks = 0; looks <= MaximumLookAhead && _budget.AdmittedBytes < _budget.LimitInBytes; looks++)
        {
            while (ofReservation?.Value.GoesAhead == true)
            {
                ofReservation = ofReservation.Next;
            }

            LinkedListNode<BudgetRequest>? node = Earlier(other, ofReservation);
            if (node is null && first is null)
            {
                // A place in the container's line would only hold up others.
                _room.GiveUp();
            }

            if (node is null || (first is not null && _room.IsKept) || IsOvertakenTooOften(growth))
            {
                return;
            }

            (node == other ? ref other : ref ofReservation) = node.Next;
            BudgetRequest request = node.Value;
            if (TryGrantNewcomer(request))
            {
                _newcomersServed++;
                if (first is not null)
                {
                    _room.NoteOvertaken();
                }
            }
            else if (first is null && request.LearnedJob is not { Hold: JobHold.ByItsName })
            {
                // Room would not help a job that waits for the end of another.
                first = request;
                _room.KeepFor(request);
            }
        }
    }

    // Of hundreds of alike jobs that wait, each pass tries one. What does not fit a job fits no larger one of the same history.
    private bool TryGrantNewcomer(BudgetRequest request)
    {
        if (request.LearnedJob is not { Learned: { } learned } job)
        {
            return TryGrant(request);
        }

        if (learned.Refused.Pass == _passes && learned.Refused.Size <= job.Size)
        {
            job.Hold = learned.Refused.Hold;
            return false;
        }

        if (TryGrant(request))
        {
            return true;
        }

        learned.Refused = (_passes, job.Size, job.Hold);
        return false;
    }

    private static LinkedListNode<BudgetRequest>? Earlier(
        LinkedListNode<BudgetRequest>? other, LinkedListNode<BudgetRequest>? ofReservation) =>
        ofReservation is null || other?.Value.Serial < ofReservation.Value.Serial ? other : ofReservation;

    private bool TryGrant(BudgetRequest request)
    {
        bool isTaken = request.TryTake();
        if (isTaken)
        {
            Settle(request, BudgetOutcome.Granted);
        }

        return isTaken;
    }
}
