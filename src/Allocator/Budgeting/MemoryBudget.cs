using System;
using System.Threading;
using Allocator.Native;

namespace Allocator.Budgeting;

/// <summary>
/// How much may be outstanding at once: the capacity of all that is rented or abandoned, and what is reserved and not used. One word, changed by one interlocked operation for a whole request,
/// so that no request holds a part of what it needs while it waits for the rest.
/// </summary>
internal sealed class MemoryBudget : BudgetAccount, IBackgroundWork
{
    /// <summary>How often waiters look at the container.</summary>
    public const int LookAgainMilliseconds = 10;

    private readonly BudgetQueue _queue;
    private long _usedBytes;
    private long _lookedMilliseconds;
    private bool _mayRefuse;
    private int _closed;
    private BackgroundState _work;

    /// <param name="limitInBytes">The limit.</param>
    /// <param name="clock">The time; null for the machine's.</param>
    /// <param name="timeout">How long synchronous calls wait; growth of a reservation that only memory outside of reservations could help waits as long, and at least 5 s.</param>
    public MemoryBudget(long limitInBytes, Clock? clock = null, TimeSpan timeout = default)
    {
        LimitInBytes = limitInBytes;
        _queue = new BudgetQueue(this, clock ?? SystemClock.Instance, timeout);
    }

    public long LimitInBytes { get; }

    /// <summary>Gets what counts the memory that its allocator has from the system.</summary>
    public MemoryCeiling Ceiling { get; init; } = new(long.MaxValue);

    /// <summary>Gets what the container has left, where requests are let in by that too.</summary>
    public ProcessHeadroom? Headroom { get; init; }

    /// <summary>Gets how much of the container has to stay free.</summary>
    public long MinimumFreeBytes { get; init; }

    /// <summary>Gets what makes room where nobody has any memory out, and there is none all the same. May block.</summary>
    public Action? BeforeRefusal { get; init; }

    /// <summary>Gets whether requests that the container has no room for are refused while nothing is out: all has been tried.</summary>
    public bool MayRefuse => Volatile.Read(ref _mayRefuse);

    public long UsedBytes => Volatile.Read(ref _usedBytes);

    /// <summary>Gets or sets the part of <see cref="UsedBytes"/> that open reservations are charged with. Under <see cref="Lock"/>.</summary>
    public long ReservedBytes { get; set; }

    /// <summary>Gets whether a request waits, or a waiter has still to be notified.</summary>
    public bool HasWaiters => _queue.HasWork;

    public override ShortLock Lock => _queue.Lock;

    public override MemoryBudget? Budget => this;

    public override ReservationAccount? OutermostReservation => null;

    public override bool IsClosed => Volatile.Read(ref _closed) != 0;

    ref BackgroundState IBackgroundWork.State => ref _work;

    void IBackgroundWork.DoWork() => ServeWaiters();

    public override bool TryTake(long bytes, bool overtakes)
    {
        if (!overtakes && _queue.HasWaiters)
        {
            return false;
        }

        return Headroom is null ? TryAdd(bytes) : Headroom.TryAdmit(this, bytes);
    }

    /// <summary>Adds to what is used, whatever the container has left. Called by <see cref="ProcessHeadroom.TryAdmit"/>.</summary>
    public bool TryAdd(long bytes) => BoundedSum.TryAdd(ref _usedBytes, bytes, LimitInBytes);

    public override long ChargeFor(long bytes) => bytes;

    public override void GiveBack(long bytes) => Interlocked.Add(ref _usedBytes, -bytes);

    /// <summary>Grants a request now, if it fits and overtakes none too often, or lets it wait.</summary>
    /// <param name="request">The request.</param>
    /// <param name="mayWait">Whether it waits; otherwise it is withdrawn where it is not granted now.</param>
    public void Post(BudgetRequest request, bool mayWait = true) => _queue.Post(request, mayWait);

    /// <summary>Ends the wait of a request. False where its outcome was decided before.</summary>
    public bool TryWithdraw(BudgetRequest request) => _queue.TryWithdraw(request);

    /// <summary>Keeps a request whose waiter could not be notified, until waiters are served again.</summary>
    public void NotifyLater(BudgetRequest request) => _queue.NotifyLater(request);

    /// <summary>
    /// Serves waiters again where the container may have room by now, of which nobody tells. Called every <see cref="LookAgainMilliseconds"/> while any wait; of many callers at once one does it.
    /// </summary>
    public void LookAgain(long nowMilliseconds)
    {
        long last = Volatile.Read(ref _lookedMilliseconds);
        if (nowMilliseconds - last < LookAgainMilliseconds || Interlocked.CompareExchange(ref _lookedMilliseconds, nowMilliseconds, last) != last)
        {
            return;
        }

        ServeWaiters();
        if (HasWaiters && Headroom?.IsNothingOut() == true)
        {
            // Nothing will come back. What is in the way is nobody's, if anything is.
            BeforeRefusal?.Invoke();
            Headroom.NoteFreed();
            Volatile.Write(ref _mayRefuse, true);
            ServeWaiters();
            Volatile.Write(ref _mayRefuse, false);
        }
    }

    /// <summary>Grants what fits by now. Called by all that give memory back; where no request waits it is two reads.</summary>
    public void ServeWaiters()
    {
        // Behind an interlocked operation of the caller's, so that a request that is posted meanwhile sees what was given back, or is seen here.
        if (_queue.HasWork)
        {
            _queue.Serve();
        }
    }

    /// <summary>Fails all waiting requests, because the allocator is disposed. It takes no new ones.</summary>
    public void Close()
    {
        Interlocked.Exchange(ref _closed, 1);
        _queue.Close();
    }
}
