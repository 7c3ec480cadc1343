namespace Allocator.Budgeting;

/// <summary>Bytes taken from an account. Whoever holds it gives it back, once; the default value is of no account and costs nothing.</summary>
internal readonly struct BudgetPermit
{
    public BudgetPermit(BudgetAccount account, long bytes)
    {
        Account = account;
        Bytes = bytes;
    }

    public BudgetAccount? Account { get; }

    public long Bytes { get; }

    /// <summary>Gives a permit of the same account for other bytes.</summary>
    public BudgetPermit With(long bytes) => Account is null ? default : new BudgetPermit(Account, bytes);

    public void Return() => Account?.Return(Bytes);

    /// <summary>As <see cref="Return"/>, with those who wait served on the thread pool: for finalizers, which only flip states.</summary>
    public void ReturnLater() => Account?.ReturnLater(Bytes);
}
