using System;

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

    /// <summary>Takes bytes where they fit and no request waits. Where there is no room, idle memory gives back its permits.</summary>
    public bool TryTakeNow(long bytes)
    {
        bool isTaken = TryTake(bytes, overtakes: false);
        if (!isTaken && Budget is { HasWaiters: false, ReleaseIdle: Action release }
            && !IsClosed && LeastChargeWith(bytes) <= Budget.LimitInBytes)
        {
            release();
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
            GiveBack(bytes);
            Budget?.ServeWaiters();
        }
    }

    /// <summary>As <see cref="Return"/>, with waiting requests served on the thread pool: for finalizers.</summary>
    public void ReturnLater(long bytes)
    {
        if (bytes != 0)
        {
            GiveBack(bytes);
            ServeWaitersLater();
        }
    }

    /// <summary>Gives back what was taken, and serves no request; below 0 where more was used than had been taken.</summary>
    public abstract void GiveBack(long bytes);

    protected void ServeWaitersLater()
    {
        if (Budget is MemoryBudget { HasWaiters: true } budget)
        {
            Background.Queue(budget);
        }
    }
}

/// <summary>
/// Bytes taken from an account. Its holder returns it, once; the default value is of no account and costs nothing.
/// </summary>
internal readonly record struct BudgetPermit(BudgetAccount? Account, long Bytes)
{
    public void Return() => Account?.Return(Bytes);
}
