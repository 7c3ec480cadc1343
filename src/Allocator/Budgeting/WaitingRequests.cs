using System.Collections.Generic;
using System.Threading;

namespace Allocator.Budgeting;

/// <summary>
/// The requests that wait for a budget, and which of them is served next. All but <see cref="Count"/> is under the lock of the queue.
/// </summary>
/// <remarks>
/// Growth of a reservation up to twice its original size goes ahead of all others: they could not be served before running jobs end
/// anyway. Everything else that is served before an earlier request counts as an overtake of that one.
/// </remarks>
internal sealed class WaitingRequests
{
    // How many requests behind the first are tried: a return of memory must not walk a long queue.
    private const int MaximumLookAhead = 64;

    private readonly MemoryBudget _budget;
    private readonly LinkedList<BudgetRequest> _others = new();
    private int _count;
    private long _lastSerial;
    private BudgetRequest? _settled;
    private BudgetRequest? _lastSettled;

    public WaitingRequests(MemoryBudget budget) => _budget = budget;

    /// <summary>Gets how many wait.</summary>
    public int Count => Volatile.Read(ref _count);

    /// <summary>Gets the one that waits for no reservation and came first; without one, the first of a reservation; null where none waits.</summary>
    public BudgetRequest? First => (_others.First ?? OfReservations.First)?.Value;

    /// <summary>Gets the requests of reservations, in order of arrival.</summary>
    public LinkedList<BudgetRequest> OfReservations { get; } = new();

    /// <summary>
    /// Gets or sets the request whose thread is within <see cref="BudgetQueue.Post"/>, where it reads the outcome itself.
    /// </summary>
    public BudgetRequest? Posting { get; set; }

    public void Add(BudgetRequest request)
    {
        request.Serial = ++_lastSerial;
        (request.Reservation is null ? _others : OfReservations).AddLast(request.Node);
        Interlocked.Increment(ref _count);
    }

    public void GrantWhatFits()
    {
        if (_budget.IsClosed)
        {
            CloseAll(OfReservations);
            CloseAll(_others);
        }
        else if (Count != 0)
        {
            ServeNewcomers(ServeReservations());
        }
    }

    public void Settle(BudgetRequest request, BudgetOutcome outcome)
    {
        request.Node.List!.Remove(request.Node);
        request.Settle(outcome);
        Interlocked.Decrement(ref _count);
        if (request != Posting)
        {
            AddSettled(request, request);
        }
    }

    /// <summary>Adds requests whose waiters have to be notified.</summary>
    public void AddSettled(BudgetRequest first, BudgetRequest last)
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

    /// <summary>Returns the first of the requests whose waiters have to be notified, and forgets them.</summary>
    public BudgetRequest? TakeSettled()
    {
        BudgetRequest? settled = _settled;
        _settled = _lastSettled = null;
        return settled;
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
        for (LinkedListNode<BudgetRequest>? node = OfReservations.First; node is not null; node = next)
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
                && (head?.Overtaken >= BudgetQueue.MaximumOvertakes || !TryGrantBefore(request, growth: head, head: null)))
            {
                head ??= request;
            }
        }

        return head;
    }

    // In order of arrival, what beyond twice its reservation is wanted, and what is wanted for none.
    private void ServeNewcomers(BudgetRequest? growth)
    {
        LinkedListNode<BudgetRequest>? ofReservation = OfReservations.First;
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
            if (request is null || head?.Overtaken >= BudgetQueue.MaximumOvertakes || growth?.Overtaken >= BudgetQueue.MaximumOvertakes)
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

    // Twice what it was made with: what it has grown by since gives it no better place.
    private static bool GoesAhead(BudgetRequest request, long charge) =>
        request.Reservation is ReservationAccount reservation && reservation.ChargedBytes + charge <= 2 * reservation.OriginalBytes;

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
}
