namespace Allocator.Budgeting;

/// <summary>Finds out when all that is out belongs to reservations that wait for more, so that nothing can move by itself. Used by one thread at a time: the one that serves the queue.</summary>
internal sealed class BudgetDeadlock
{
    private readonly MemoryBudget _budget;
    private long _looks;

    public BudgetDeadlock(MemoryBudget budget) => _budget = budget;

    /// <summary>Ends a deadlock: the request of the youngest reservation fails. False where there is none.</summary>
    /// <param name="head">The queue, none of which fits.</param>
    public bool TryResolve(BudgetRequest head)
    {
        // Twice, and the sum in between: what changed meanwhile is looked at again by whoever changed it.
        long before = SumOfWaiting(head, out BudgetRequest? youngest);
        if (youngest is null || before != _budget.UsedBytes || before != SumOfWaiting(head, out _))
        {
            return false;
        }

        youngest.TryFail(MemoryLimitExceededException.ForDeadlock(youngest.Bytes, _budget.LimitInBytes));
        return true;
    }

    // What the budget is charged with for reservations that wait.
    private long SumOfWaiting(BudgetRequest head, out BudgetRequest? youngest)
    {
        long sum = 0;
        long youngestSerial = 0;
        youngest = null;
        _looks++;
        for (BudgetRequest? request = head; request is not null; request = request.Next)
        {
            if (!request.IsWaiting || !request.IsPatient || request.Account.OutermostReservation is not ReservationAccount reservation)
            {
                continue;
            }

            if (reservation.LastLook != _looks)
            {
                reservation.LastLook = _looks;
                sum += reservation.ChargedBytes;
            }

            if (reservation.Serial >= youngestSerial)
            {
                youngestSerial = reservation.Serial;
                youngest = request;
            }
        }

        return sum;
    }
}
