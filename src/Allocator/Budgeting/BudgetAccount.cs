namespace Allocator.Budgeting;

/// <summary>
/// What outstanding memory is charged to: the whole budget, or a reservation. Thread-safe; no call blocks for longer than a short lock.
/// </summary>
internal abstract class BudgetAccount
{
    /// <summary>Makes an account of a budget, or the budget itself.</summary>
    protected BudgetAccount(MemoryBudget? budget) => Budget = budget ?? this as MemoryBudget;

    /// <summary>Gets the budget in whose queue requests of this account wait; null where nothing is limited.</summary>
    public MemoryBudget? Budget { get; }

    /// <summary>Gets the reservation that this account is, or is a part of; null for the budget itself.</summary>
    public abstract ReservationAccount? OutermostReservation { get; }

    /// <summary>Gets whether nothing can be taken any more.</summary>
    public abstract bool IsClosed { get; }

    /// <summary>Gets the lock of the queue and of all reservations of one budget.</summary>
    public abstract ShortLock Lock { get; }

    /// <summary>Takes bytes in one step, where they fit and requests that wait may be overtaken, or none wait.</summary>
    public abstract bool TryTake(long bytes, bool overtakes);

    /// <summary>Takes bytes if they fit, by what the container leaves now, and no request waits. May read files.</summary>
    public bool TryTakeNow(long bytes)
    {
        ProcessHeadroom? headroom = Budget is { KeepsMinimumFree: true } ? Budget.Headroom : null;
        headroom?.Refresh();
        bool isTaken = TryTake(bytes, overtakes: false);
        if (!isTaken && headroom is not null)
        {
            headroom.Measure();
            isTaken = TryTake(bytes, overtakes: false);
        }

        return isTaken;
    }

    /// <summary>Returns how many bytes more the budget would be charged with, were so many taken.</summary>
    public abstract long ChargeFor(long bytes);

    /// <summary>Returns the least that the budget is charged with once so many more are taken: above its limit they never fit.</summary>
    public virtual long LeastChargeWith(long bytes) => bytes;

    /// <summary>Gives back what was taken, and serves waiting requests.</summary>
    public void Return(long bytes)
    {
        if (bytes != 0)
        {
            EndCharge(bytes);
            Budget?.ServeWaiters();
        }
    }

    /// <summary>As <see cref="Return"/>, with waiting requests served on the background thread: for finalizers.</summary>
    public void ReturnLater(long bytes)
    {
        if (bytes != 0)
        {
            EndCharge(bytes);
            Budget?.ServeWaitersLater();
        }
    }

    /// <summary>Gives back what was taken, and serves no request; below 0 where more was used than had been taken.</summary>
    public abstract void EndCharge(long bytes);
}

/// <summary>
/// Bytes taken from an account. Its holder returns it, once; the default value is of no account and costs nothing.
/// </summary>
internal readonly record struct BudgetPermit(BudgetAccount? Account, long Bytes)
{
    public void Return() => Account?.Return(Bytes);
}

/// <summary>
/// What one request for memory has been refused so far, and by what. It travels with the request through pool and sources: the caller
/// that has to make room learns from it how much is missing, and where.
/// </summary>
internal struct Refusals
{
    /// <summary>Gets or sets how many attempts failed by each.</summary>
    public int BySystem { get; set; }

    public int ByContainer { get; set; }

    public int ByBudget { get; set; }

    /// <summary>Gets the least that the budget or the container has refused in this attempt; 0 where neither did.</summary>
    public long RefusedBytes { get; private set; }

    public bool IsRefusedByContainer { get; private set; }

    /// <summary>Notes a refusal, and returns false for the caller to return.</summary>
    public bool Refuse(long bytes, bool byContainer)
    {
        RefusedBytes = RefusedBytes == 0 ? bytes : Math.Min(RefusedBytes, bytes);
        IsRefusedByContainer = byContainer;
        return false;
    }

    /// <summary>Called by what has made room for the next attempt.</summary>
    public void BeginAttempt()
    {
        RefusedBytes = 0;
        IsRefusedByContainer = false;
    }
}
