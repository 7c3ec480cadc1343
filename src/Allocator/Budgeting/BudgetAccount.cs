using System.Threading;

namespace Allocator.Budgeting;

/// <summary>What memory is charged to while it is out: the whole budget, or a reservation. Thread-safe; no call blocks.</summary>
internal abstract class BudgetAccount
{
    /// <summary>Gets the budget in whose queue is waited for this account; null where nothing is limited.</summary>
    public abstract MemoryBudget? Budget { get; }

    /// <summary>Gets the reservation that this account is, or is a part of; null for the budget itself.</summary>
    public abstract ReservationAccount? OutermostReservation { get; }

    /// <summary>Gets whether nothing can be taken any more.</summary>
    public abstract bool IsClosed { get; }

    /// <summary>Takes bytes in one step, unless they do not fit.</summary>
    /// <param name="bytes">The bytes, above 0.</param>
    /// <param name="overtakes">Whether this may come before those who wait: so it is for whoever serves the queue.</param>
    public abstract bool TryTake(long bytes, bool overtakes);

    /// <summary>Gives back what was taken, and lets those who wait have it.</summary>
    public void Return(long bytes)
    {
        if (bytes != 0)
        {
            GiveBack(bytes);
            Budget?.ServeWaiters();
        }
    }

    /// <summary>As <see cref="Return"/>, with those who wait served on the thread pool: for finalizers, which only flip states.</summary>
    public void ReturnLater(long bytes)
    {
        if (bytes != 0)
        {
            GiveBack(bytes);
            ServeWaitersLater();
        }
    }

    /// <summary>Gives back what was taken. Nobody is told.</summary>
    /// <param name="bytes">The bytes; below 0 where more was used than had been taken.</param>
    public abstract void GiveBack(long bytes);

    protected void ServeWaitersLater()
    {
        if (Budget is MemoryBudget { HasWaiters: true } budget)
        {
            ThreadPool.UnsafeQueueUserWorkItem(static state => ((MemoryBudget)state!).ServeWaiters(), budget);
        }
    }
}
