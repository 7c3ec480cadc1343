using Allocator.Budgeting;

namespace Allocator.Tests.Fakes;

internal static class BegunAccount
{
    /// <summary>Makes the account of a reservation whose bytes the caller gives, and which has begun.</summary>
    public static ReservationAccount Of(BudgetAccount? parent, long bytes)
    {
        ReservationAccount account = new(parent, new RunningJob(bytes));
        Assert.True(account.TryBegin(overtakes: true));
        return account;
    }

    /// <summary>Makes the account of a job by name. Null if it may not begin now.</summary>
    public static ReservationAccount? TryByName(MemoryBudget budget, LearnedJob job, long size = 1)
    {
        ReservationAccount account = new(budget, new RunningJob(job.Of(size), size));
        return account.TryBegin(overtakes: false) ? account : null;
    }
}
