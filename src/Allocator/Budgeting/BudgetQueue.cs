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
    private readonly BudgetDeadlock _deadlock;
    private BudgetRequest? _arrived;
    private int _waiting;
    private int _visits;

    // Of whoever serves.
    private BudgetRequest? _head;
    private BudgetRequest? _tail;
    private BudgetRequest? _firstNew;
    private int _length;
    private int _ofReservations;

    public BudgetQueue(MemoryBudget budget)
    {
        _budget = budget;
        _deadlock = new BudgetDeadlock(budget);
    }

    /// <summary>Gets whether anybody waits.</summary>
    public bool HasWaiters => Volatile.Read(ref _waiting) != 0;

    public void Post(BudgetRequest request)
    {
        // Counted first: whoever gives memory back from here on serves the queue, and whoever did before is seen by this thread, which serves it now.
        Interlocked.Increment(ref _waiting);
        BudgetRequest? newest;
        do
        {
            newest = Volatile.Read(ref _arrived);
            request.Next = newest;
        }
        while (Interlocked.CompareExchange(ref _arrived, request, newest) != newest);

        Serve();
    }

    /// <summary>Notes that a request is settled. Called once for each, by whoever settled it.</summary>
    public void NoteSettled() => Interlocked.Decrement(ref _waiting);

    /// <summary>Settles what can be settled. Where another thread is at it, that one looks once more. Never throws: those who dispose call it.</summary>
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
            catch (OutOfMemoryException)
            {
                // No memory to tell somebody, on the managed heap: the next return, or the next tick of the trimmer, tries again.
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
            NoteNewConsidered();
        }
        while (_head is not null && _deadlock.TryResolve(_head));
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

        _firstNew = inOrder;
        while (inOrder is not null)
        {
            if (_tail is null)
            {
                _head = inOrder;
            }
            else
            {
                _tail.Next = inOrder;
            }

            _tail = inOrder;
            _length++;
            _ofReservations += IsOfReservation(inOrder) ? 1 : 0;
            inOrder = inOrder.Next;
        }
    }

    private void GrantWhatFits()
    {
        BudgetRequest? previous = null;
        for (BudgetRequest? request = _head; request is not null && !IsPointless(isHead: previous is null); request = request.Next)
        {
            if (TrySettle(request, isHead: previous is null))
            {
                Remove(request, previous);
            }
            else
            {
                previous = request;
            }
        }
    }

    // Where there is nothing left to give, long queues are not walked; unless that has left behind many that were given up.
    private bool IsPointless(bool isHead) =>
        !isHead && _ofReservations == 0 && !_budget.IsClosed && _length <= 2 * Volatile.Read(ref _waiting) + MaximumOvertakes
        && (_head!.Overtaken >= MaximumOvertakes || _budget.UsedBytes >= _budget.LimitInBytes);

    // Where the walk was cut short, too: there was nothing for them.
    private void NoteNewConsidered()
    {
        // Requests that were removed still lead on to those behind them.
        for (BudgetRequest? request = _firstNew; request is not null; request = request.Next)
        {
            request.NoteConsidered();
        }

        _firstNew = null;
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

        // What a reservation has left is its own: nobody is overtaken by its use. And what it needs beyond comes before all others: it holds what they wait for.
        if (TryGrant(request, overtakes: IsOfReservation(request)))
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

    private static bool IsOfReservation(BudgetRequest request) => request.Account.OutermostReservation is not null;

    // Its own way on stays as it is: whoever walks over it goes on from there.
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

        _length--;
        _ofReservations -= IsOfReservation(request) ? 1 : 0;
    }
}
