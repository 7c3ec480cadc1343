namespace Allocator.Budgeting;

/// <summary>
/// The account that outstanding memory is charged to: the whole budget, or a reservation. Thread-safe; no call blocks except for a short
/// lock.
/// </summary>
internal abstract class BudgetAccount
{
    protected BudgetAccount(MemoryBudget? budget) => Budget = budget ?? this as MemoryBudget;

    /// <summary>Gets the budget in whose queue requests of this account wait. Null if nothing is limited.</summary>
    public MemoryBudget? Budget { get; }

    /// <summary>Gets the reservation that this account is, or is a part of. Null for the budget itself.</summary>
    public abstract ReservationAccount? OutermostReservation { get; }

    /// <summary>Gets whether nothing can be taken any more.</summary>
    public abstract bool IsClosed { get; }

    /// <summary>Gets whether it belongs to a job that has ended and was refused memory, so that its code has given up.</summary>
    public virtual bool IsOfFailedJob => false;

    /// <summary>Gets the lock of the queue and of all reservations of one budget.</summary>
    public abstract ShortLock Lock { get; }

    /// <summary>Takes bytes in one step if they fit, and either no request waits or waiting ones may be overtaken.</summary>
    public abstract bool TryTake(long bytes, bool overtakes);

    /// <summary>Takes bytes, or begins a reservation, if there is room now and no request waits. May read files.</summary>
    public bool TryTakeNow(long bytes, ReservationAccount? begins = null)
    {
        bool isConsulted = Budget is { KeepsMinimumFree: true } || (begins is not null && Budget?.WatchesContainer == true);
        ProcessHeadroom? headroom = isConsulted ? Budget!.Headroom : null;
        headroom?.Refresh();
        if (begins is not null)
        {
            Budget?.ReadUncounted();
        }

        bool isTaken = TryBegin();
        if (!isTaken && headroom is not null && !Budget!.HasWaiters)
        {
            headroom.Measure();
            isTaken = TryBegin();
        }

        return isTaken;

        bool TryBegin() => begins?.TryBegin(overtakes: false) ?? TryTake(bytes, overtakes: false);
    }

    /// <summary>Returns by how much the charge to the budget would rise if these bytes were taken.</summary>
    public abstract long ChargeFor(long bytes);

    /// <summary>
    /// Returns the lowest possible charge to the budget once these bytes are taken. If that is above the limit, they never fit.
    /// </summary>
    public virtual long LeastChargeWith(long bytes) => bytes;

    /// <summary>Returns bytes that were taken, and serves waiting requests; if a finalizer calls, on the background thread.</summary>
    public void Return(long bytes, bool byFinalizer = false)
    {
        // Bytes that stay reserved make room only for the reservation's own requests.
        if (bytes != 0 && (EndCharge(bytes) || Budget?.HasWaitersOfReservations == true))
        {
            Budget?.ServeWaiters(byFinalizer);
        }
    }

    /// <summary>
    /// Returns bytes that were taken, and serves no request. A negative number charges use beyond the taken bytes. Returns whether the
    /// budget has more room now.
    /// </summary>
    public abstract bool EndCharge(long bytes);
}

/// <summary>
/// A reservation as seen by the flow of execution that uses it: requests of its allocator are charged here. If the flow takes more after
/// the reservation has ended, the parent account is charged.
/// </summary>
internal sealed class AmbientAccount : BudgetAccount
{
    private static int s_live;

    private readonly LearnedJobs _owner;
    private AmbientAccount? _outer;
    private int _isEnded;

    /// <summary>Makes the caller's flow allocate from the reservation, for the allocator that the owner belongs to.</summary>
    public AmbientAccount(ReservationAccount reservation, LearnedJobs owner)
        : base(reservation.Budget)
    {
        Reservation = reservation;
        _owner = owner;
        _outer = SkipEnded(Flow.Current.Value);
        if (_outer is not null)
        {
            _outer._outer = SkipEnded(_outer._outer);
        }

        Flow.Current.Value = this;
        Interlocked.Increment(ref s_live);
    }

    /// <summary>
    /// Gets whether any flow of the process may be using a reservation. Each rent asks, so it only compares a count with 0.
    /// </summary>
    public static bool IsAnyLive => Volatile.Read(ref s_live) != 0;

    public ReservationAccount Reservation { get; }

    // A request made after the reservation has ended belongs to what encloses it, if anything does.
    public override ReservationAccount? OutermostReservation =>
        Reservation.IsClosed ? Reservation.EnclosingReservation : Reservation.OutermostReservation;

    public override bool IsClosed => Budget?.IsClosed == true;

    public override bool IsOfFailedJob => Reservation.IsOfFailedJob;

    public override ShortLock Lock => Reservation.Lock;

    /// <summary>Returns the innermost live reservation of an allocator that this flow uses. Null if there is none.</summary>
    public static AmbientAccount? Find(LearnedJobs owner)
    {
        for (AmbientAccount? use = SkipEnded(Flow.Current.Value); use is not null; use = use._outer = SkipEnded(use._outer))
        {
            if (use._owner == owner)
            {
                return use;
            }
        }

        return null;
    }

    public override bool TryTake(long bytes, bool overtakes) => Reservation.TryTake(bytes, overtakes, passesOn: true);

    public override long ChargeFor(long bytes) => Reservation.ChargeFor(bytes);

    public override bool EndCharge(long bytes) => Reservation.EndCharge(bytes);

    /// <summary>Ends the use, for all flows that have it. Further calls have no effect.</summary>
    public void End()
    {
        if (Interlocked.Exchange(ref _isEnded, 1) == 0)
        {
            Interlocked.Decrement(ref s_live);
        }
    }

    /// <summary>As <see cref="End"/>; the caller's flow then uses its former reservation again.</summary>
    public void Leave()
    {
        End();
        try
        {
            if (Flow.Current.Value == this)
            {
                Flow.Current.Value = SkipEnded(_outer);
            }
        }
        catch (OutOfMemoryException)
        {
            // The flow still refers to the ended use, which is skipped.
        }
    }

    // Keeps a chain of nested flows as short as its number of live uses.
    private static AmbientAccount? SkipEnded(AmbientAccount? use)
    {
        while (use is not null && (Volatile.Read(ref use._isEnded) != 0 || use.Reservation.IsClosed))
        {
            use.End();
            use = use._outer;
        }

        return use;
    }

    // A class of its own, so that reading the count does not check whether this has been initialized.
    private static class Flow
    {
        public static readonly AsyncLocal<AmbientAccount?> Current = new();
    }
}

/// <summary>Bytes taken from an account. Its holder returns it once. The default value belongs to no account and costs nothing.</summary>
internal readonly record struct BudgetPermit(BudgetAccount? Account, long Bytes)
{
    public void Return(bool byFinalizer = false) => Account?.Return(Bytes, byFinalizer);
}

/// <summary>
/// The refusals of one request for memory so far, and who refused. It travels with the request through pool and sources. From it, the
/// caller that must make room learns how much is missing, and from whom.
/// </summary>
internal struct Refusals
{
    /// <summary>How many attempts the system, the container and the budget have refused.</summary>
    public int BySystem;
    public int ByContainer;
    public int ByBudget;

    /// <summary>The smallest size that the budget or the container has refused in this attempt; 0 if neither did.</summary>
    public long RefusedBytes;
    public bool IsRefusedByContainer;

    /// <summary>Forgets what the last attempt was refused, but not how often.</summary>
    public void BeginAttempt() => (RefusedBytes, IsRefusedByContainer) = (0, false);

    /// <summary>Notes a refusal, and returns false for the caller to return.</summary>
    public bool Refuse(long bytes, bool byContainer)
    {
        RefusedBytes = RefusedBytes == 0 ? bytes : Math.Min(RefusedBytes, bytes);
        IsRefusedByContainer = byContainer;
        return false;
    }
}
