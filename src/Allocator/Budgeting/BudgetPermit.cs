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

    /// <summary>Gives the part back that turned out not to be needed, or takes what was missing.</summary>
    /// <returns>The permit for what is used.</returns>
    public BudgetPermit Settle(long usedBytes)
    {
        if (Account is null)
        {
            return default;
        }

        Account.Return(Bytes - usedBytes);
        return new BudgetPermit(Account, usedBytes);
    }

    public void Return() => Account?.Return(Bytes);
}
