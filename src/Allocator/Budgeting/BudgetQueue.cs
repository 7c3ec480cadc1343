using System;
using System.Threading;

namespace Allocator.Budgeting;

/// <summary>
/// Those who wait for a budget, in the order in which they came. One thread at a time serves them: whoever comes meanwhile leaves a note that it shall look again, and goes,
/// so that nobody who gives memory back ever waits.
/// </summary>
internal sealed class BudgetQueue
{
    /// <summary>How many requests may be served before one that came earlier and does not fit yet. From then on all that comes back is kept for it.</summary>
    public const int MaximumOvertakes = 16;

    private readonly MemoryBudget _budget;
    private BudgetRequest? _arrived;
    private BudgetRequest? _head;
    private BudgetRequest? _tail;
    private int _count;
    private int _visits;
    private long _looks;

    public BudgetQueue(MemoryBudget budget) => _budget = budget;

    public bool HasWaiters => Volatile.Read(ref _count) != 0;

    public void Post(BudgetRequest request)
    {
        // Counted first: whoever gives memory back from here on serves the queue, and whoever did before is seen by this thread, which serves it now.
        Interlocked.Increment(ref _count);
        BudgetRequest? newest;
        do
        {
            newest = Volatile.Read(ref _arrived);
            request.Next = newest;
        }
        while (Interlocked.CompareExchange(ref _arrived, request, newest) != newest);

        Serve();
    }

    /// <summary>Settles what can be settled. Where another thread is at it, that one looks once more.</summary>
    public void Serve()
    {
        if (Interlocked.Increment(ref _visits) != 1)
        {
            return;
        }

        int seen;
        do
        {
            seen = Volatile.Read(ref _visits);
            try
            {
                ServeOnce();
            }
            catch
            {
                // Or nobody would ever be served again.
                Volatile.Write(ref _visits, 0);
                throw;
            }
        }
        while (Interlocked.Add(ref _visits, -seen) != 0);
    }

    private void ServeOnce()
    {
        do
        {
            TakeArrived();
            GrantWhatFits();
        }
        while (_head is not null && TryResolveDeadlock());
    }

    private void TakeArrived()
    {
        // The newest is on top: turned round, they are in order.
        BudgetRequest? inOrder = null;
        for (BudgetRequest? request = Interlocked.Exchange(ref _arrived, null); request is not null;)
        {
            BudgetRequest? older = request.Next;
            request.Next = inOrder;
            inOrder = request;
            request = older;
        }

        while (inOrder is not null)
        {
            BudgetRequest request = inOrder;
            inOrder = request.Next;
            request.Next = null;
            if (_tail is null)
            {
                _head = request;
            }
            else
            {
                _tail.Next = request;
            }

            _tail = request;
        }
    }

    private void GrantWhatFits()
    {
        BudgetRequest? previous = null;
        BudgetRequest? request = _head;
        while (request is not null)
        {
            BudgetRequest? next = request.Next;

            bool isSettled = TrySettle(request, isHead: previous is null);
            request.NoteConsidered();
            if (isSettled)
            {
                Remove(request, previous);
            }
            else
            {
                previous = request;
            }

            request = next;
        }
    }

    private bool TrySettle(BudgetRequest request, bool isHead)
    {
        if (!request.IsWaiting)
        {
            return true;
        }

        if (request.Account.IsClosed)
        {
            request.TryFail(new ObjectDisposedException(_budget.IsClosed ? nameof(MemoryAllocator) : nameof(MemoryReservation)));
            return true;
        }

        // What a reservation has left is its own: nobody is overtaken by its use.
        if (TryGrant(request, overtakes: false))
        {
            return true;
        }

        if (!isHead && _head!.Overtaken >= MaximumOvertakes)
        {
            return false;
        }

        bool isSettled = TryGrant(request, overtakes: true);
        if (isSettled && !isHead)
        {
            _head!.Overtaken++;
        }

        return isSettled;
    }

    private static bool TryGrant(BudgetRequest request, bool overtakes)
    {
        if (!request.Account.TryTake(request.Bytes, overtakes))
        {
            return false;
        }

        if (!request.TryGrant())
        {
            // Given up at this moment.
            request.Account.GiveBack(request.Bytes);
        }

        return true;
    }

    private void Remove(BudgetRequest request, BudgetRequest? previous)
    {
        if (previous is null)
        {
            _head = request.Next;
        }
        else
        {
            previous.Next = request.Next;
        }

        if (_tail == request)
        {
            _tail = previous;
        }

        request.Next = null;
        Interlocked.Decrement(ref _count);
    }

    // Where all that is out belongs to reservations that wait for more, nothing can move by itself.
    private bool TryResolveDeadlock()
    {
        if (!IsStuck(out BudgetRequest? youngest))
        {
            return false;
        }

        // Nobody else is going to give anything back: then it does not matter who is overtaken.
        for (BudgetRequest? request = _head; request is not null; request = request.Next)
        {
            if (request.IsWaiting && request.Account.OutermostReservation is not null && TryGrant(request, overtakes: true))
            {
                return true;
            }
        }

        youngest!.TryFail(MemoryLimitExceededException.ForDeadlock(youngest.Bytes, _budget.LimitInBytes));
        return true;
    }

    private bool IsStuck(out BudgetRequest? youngest)
    {
        long used = _budget.UsedBytes;
        long ofWaiting = 0;
        long youngestSerial = 0;
        youngest = null;
        _looks++;
        for (BudgetRequest? request = _head; request is not null; request = request.Next)
        {
            if (!request.IsWaiting || request.Account.OutermostReservation is not ReservationAccount reservation)
            {
                continue;
            }

            if (reservation.LastLook != _looks)
            {
                reservation.LastLook = _looks;
                ofWaiting += reservation.ChargedBytes;
            }

            if (reservation.Serial >= youngestSerial)
            {
                youngestSerial = reservation.Serial;
                youngest = request;
            }
        }

        // Read again: what changed meanwhile is looked at again by whoever changed it.
        return youngest is not null && ofWaiting == used && _budget.UsedBytes == used;
    }
}
