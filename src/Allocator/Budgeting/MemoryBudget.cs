using System.Threading;

namespace Allocator.Budgeting;

/// <summary>
/// How much may be out at once: the capacity of all that is rented or abandoned, and what is reserved and not used. One word, changed by one interlocked operation for a whole request,
/// so that no request holds a part of what it needs while it waits for the rest.
/// </summary>
internal sealed class MemoryBudget : BudgetAccount
{
    private readonly BudgetQueue _queue;
    private long _usedBytes;
    private int _closed;

    public MemoryBudget(long limitInBytes)
    {
        LimitInBytes = limitInBytes;
        _queue = new BudgetQueue(this);
    }

    public long LimitInBytes { get; }

    public long UsedBytes => Volatile.Read(ref _usedBytes);

    /// <summary>Gets whether anybody waits.</summary>
    public bool HasWaiters => _queue.HasWaiters;

    public override MemoryBudget? Budget => this;

    public override ReservationAccount? OutermostReservation => null;

    public override bool IsClosed => Volatile.Read(ref _closed) != 0;

    public override bool TryTake(long bytes, bool overtakes) => (overtakes || !_queue.HasWaiters) && BoundedSum.TryAdd(ref _usedBytes, bytes, LimitInBytes);

    public override void GiveBack(long bytes) => Interlocked.Add(ref _usedBytes, -bytes);

    /// <summary>Notes that a request that was posted is settled.</summary>
    public void NoteSettled() => _queue.NoteSettled();

    /// <summary>Lets a request wait. It is settled when it has been granted, cancelled or has failed, which may be before this returns.</summary>
    public void Post(BudgetRequest request) => _queue.Post(request);

    /// <summary>Grants what fits by now. Whoever gives memory back, or gives up waiting, calls it; where nobody waits it is one read.</summary>
    public void ServeWaiters()
    {
        // Behind an interlocked operation of the caller's, so that a request that is posted meanwhile sees what was given back, or is seen here.
        if (_queue.HasWaiters)
        {
            _queue.Serve();
        }
    }

    /// <summary>From here on nobody is let in who waits: they are told that the allocator is disposed. pre: it takes no new requests.</summary>
    public void Close()
    {
        Interlocked.Exchange(ref _closed, 1);
        ServeWaiters();
    }
}
