namespace Allocator.Budgeting;

/// <summary>What became of a request for a part of the budget.</summary>
internal enum BudgetOutcome
{
    /// <summary>Not decided yet.</summary>
    Waiting,

    /// <summary>Its bytes have been taken.</summary>
    Granted,

    /// <summary>The caller gave up, or did not want to wait.</summary>
    Withdrawn,

    /// <summary>The allocator, or the reservation, was disposed.</summary>
    Closed,

    /// <summary>Growth of a reservation that could have waited for ever.</summary>
    Stuck,

    /// <summary>More than the container leaves, with nothing out that could come back.</summary>
    NoRoom,
}
