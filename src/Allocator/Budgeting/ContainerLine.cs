namespace Allocator.Budgeting;

/// <summary>
/// The order in which the budgets of a process take the container's memory. Each budget has a queue of its own; this class bounds
/// overtaking between them: the budget whose first request has waited longest is overtaken no more often than the first request of a queue.
/// Used under the lock of the headroom.
/// </summary>
[DebuggerDisplay("{Budgets.Length} budgets")]
internal sealed class ContainerLine
{
    private WeakReference<MemoryBudget>[] _budgets = [];
    private long _places;

    /// <summary>Gets the budgets that share the memory.</summary>
    public WeakReference<MemoryBudget>[] Budgets => Volatile.Read(ref _budgets);

    /// <summary>Adds a budget. Not for concurrent callers.</summary>
    public void Add(MemoryBudget budget)
    {
        Volatile.Write(ref _budgets, [.. _budgets.Where(IsOpen), new WeakReference<MemoryBudget>(budget)]);

        static bool IsOpen(WeakReference<MemoryBudget> reference) => reference.TryGetTarget(out MemoryBudget? other) && other.IsOfInterest;
    }

    /// <summary>Returns whether a budget may take memory, or has to leave it to one that has been overtaken too often.</summary>
    public bool MayTake(MemoryBudget budget) =>
        FindFirst() is not { } first || first == budget || first.OvertakenInLine < BudgetQueue.MaximumOvertakes;

    /// <summary>Notes what became of a request.</summary>
    /// <param name="budget">The budget that it belongs to.</param>
    /// <param name="isTaken">Whether it has got memory of the container.</param>
    /// <param name="waits">Whether it is the container that had no room for it, not the budget.</param>
    public void Note(MemoryBudget budget, bool isTaken, bool waits)
    {
        Debug.Assert(budget.Headroom!.Lock.IsHeld);
        if (isTaken && FindFirst() is { } first && first != budget)
        {
            first.OvertakenInLine++;
        }

        if (waits && budget.PlaceInLine == 0)
        {
            budget.PlaceInLine = ++_places;
            budget.OvertakenInLine = 0;
        }
    }

    private MemoryBudget? FindFirst()
    {
        MemoryBudget? first = null;
        foreach (WeakReference<MemoryBudget> reference in Budgets)
        {
            if (reference.TryGetTarget(out MemoryBudget? budget) && budget is { PlaceInLine: > 0, HasWaiters: true, IsClosed: false })
            {
                first = first is null || budget.PlaceInLine < first.PlaceInLine ? budget : first;
            }
        }

        return first;
    }
}
