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

    public void Return() => Account?.Return(Bytes);
}
