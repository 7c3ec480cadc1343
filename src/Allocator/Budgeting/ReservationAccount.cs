using Allocator.Native;

namespace Allocator.Budgeting;

/// <summary>
/// A part of a budget, taken before it is used. Its outstanding memory counts against it. Its parent is charged with the reserved bytes,
/// and with the overflow: bytes that were taken when no reserved byte was left.
/// </summary>
/// <remarks>
/// Returned memory reduces the overflow first. Growth adds to the overflow; it does not replace it, so the job keeps what it asked for.
/// </remarks>
[DebuggerDisplay("{ReservedBytes} reserved, {_overflowBytes} overflow, {UsedBytes} used, closed: {_isClosed}")]
internal sealed class ReservationAccount : BudgetAccount
{
    private static long s_lastSerial;

    // Changes if it is another reservation, or the use of one, and that ends.
    private BudgetAccount? _parent;
    private long _reservedBytes;
    private long _overflowBytes;
    private long _usedBytes;
    private long _peakUsedBytes;

    // The part that is charged to reservations within this one. They may live longer.
    private long _nestedBytes;

    // Bytes that may be taken without the lock. Within them neither the peak nor the parent's charge changes. Negative while the counts
    // change under the lock, if there is an overflow, and once the account is closed.
    private long _spareBytes;
    private long _overflowCount;
    private long _refusedBytes;
    private long _refusalCount;
    private bool _isClosed;

    /// <summary>Makes an account that has not begun. <see cref="TryBegin"/> must follow.</summary>
    public ReservationAccount(BudgetAccount? parent, RunningJob job)
        : base(parent?.Budget)
    {
        _parent = parent;
        Job = job;
        job.Account = this;
        Lock = parent?.Lock ?? new ShortLock();
    }

    public RunningJob Job { get; }

    /// <summary>Gets the bytes reserved at first. They decide which growth goes ahead: growth does not change them.</summary>
    public long OriginalBytes { get; private set; }

    /// <summary>Gets whether its size is learned from earlier jobs.</summary>
    public bool IsLearned => Job.Learned is not null;

    /// <summary>Gets the bytes that it asked for last, or has begun with.</summary>
    public long ClaimedBytes => Job.Claim.AllocatedBytes;

    /// <summary>Gets the most that the job is thought to have taken elsewhere.</summary>
    public long PeakElsewhereBytes => Job.PeakElsewhereBytes;

    public long ReservedBytes => Volatile.Read(ref _reservedBytes);

    /// <summary>Gets a number that grows from reservation to reservation: the youngest has the highest.</summary>
    public long Serial { get; private set; }

    /// <summary>Gets or sets the number of the last look for a deadlock that counted this reservation. Under the lock.</summary>
    public long LastLook { get; set; }

    public override ShortLock Lock { get; }

    public override ReservationAccount? OutermostReservation => EnclosingReservation ?? this;

    /// <summary>Gets the outermost open reservation that this one is a part of; null if it is a part of the budget itself.</summary>
    public ReservationAccount? EnclosingReservation =>
        Outer is { } outer ? outer.EnclosingReservation ?? (Volatile.Read(ref outer._isClosed) ? null : outer) : null;

    public override bool IsClosed => Volatile.Read(ref _isClosed) || Budget?.IsClosed == true;

    public override bool IsOfFailedJob => Volatile.Read(ref _isClosed) && (RefusalCount > 0 || Outer?.IsOfFailedJob == true);

    /// <summary>Gets the outstanding bytes. Under the lock.</summary>
    public long UsedBytes
    {
        get
        {
            Debug.Assert(Lock.IsHeld);
            return Volatile.Read(ref _spareBytes) is >= 0 and long spare ? SpareWhenIdle - spare : _usedBytes;
        }
    }

    /// <summary>Gets the outstanding bytes without the lock: a figure that may be a moment old.</summary>
    public long CurrentUsedBytes =>
        Volatile.Read(ref _spareBytes) is >= 0 and long spare ? Math.Max(0, SpareWhenIdle - spare) : Volatile.Read(ref _usedBytes);

    public long PeakUsedBytes => Volatile.Read(ref _peakUsedBytes);

    /// <summary>Gets how often a request took more than was left of the reservation.</summary>
    public long OverflowCount => Volatile.Read(ref _overflowCount);

    /// <summary>Gets how many bytes can be taken without a charge to the parent.</summary>
    public long RemainingBytes
    {
        get
        {
            using ShortLock.Section section = Lock.Enter();
            return _isClosed ? 0 : ChargedBytes - UsedBytes;
        }
    }

    /// <summary>Gets the charge to the parent. Under the lock.</summary>
    public long ChargedBytes
    {
        get
        {
            Debug.Assert(Lock.IsHeld);
            return _isClosed ? _usedBytes : ByteCount.Add(_reservedBytes, _overflowBytes);
        }
    }

    // The reservation from which it was made, or that the flow was using then. It may have ended.
    private ReservationAccount? Outer =>
        Volatile.Read(ref _parent) is { } parent ? parent as ReservationAccount ?? (parent as AmbientAccount)?.Reservation : null;

    private long SpareWhenIdle => Math.Min(_reservedBytes, _peakUsedBytes);

    public override bool TryTake(long bytes, bool overtakes) => TryTake(bytes, overtakes, passesOn: false);

    /// <summary>Takes bytes. Even a closed account does so, if it passes the charge on to its parent.</summary>
    public bool TryTake(long bytes, bool overtakes, bool passesOn) =>
        TryChangeSpare(-bytes) || TryTakeSlow(bytes, overtakes, passesOn);

    public override long ChargeFor(long bytes)
    {
        using ShortLock.Section section = Lock.Enter();
        return ChargeOfParent(ExtraFor(bytes));
    }

    public override bool EndCharge(long bytes)
    {
        if (TryChangeSpare(bytes))
        {
            return false;
        }

        using ShortLock.Section section = Lock.Enter();
        return Shrink(usedBytes: bytes);
    }

    /// <summary>Begins the reservation if its claim fits. A part of another reservation draws on that. Allocates nothing.</summary>
    public bool TryBegin(bool overtakes)
    {
        using ShortLock.Section section = Lock.Enter();
        Debug.Assert(_reservedBytes == 0);
        if (_isClosed)
        {
            // Nobody waits for it any more, because the caller ran out of managed memory.
            return true;
        }

        LeaveEnded();
        if (_parent is MemoryBudget budget)
        {
            if (!budget.TryBegin(Job, overtakes))
            {
                return false;
            }
        }
        else
        {
            JobClaim claim = Job.FindClaim() ?? default;
            Job.Claim = IsLearned ? claim with { AllocatedBytes = Math.Max(claim.AllocatedBytes, LearnedSize.Granularity) } : claim;
            if (ClaimedBytes != 0 && _parent?.TryTake(ClaimedBytes, overtakes) == false)
            {
                return false;
            }
        }

        OriginalBytes = ClaimedBytes;
        Serial = Interlocked.Increment(ref s_lastSerial);
        Volatile.Write(ref _reservedBytes, OriginalBytes);
        NoteCharge(OriginalBytes);
        return true;
    }

    /// <summary>Gets how often an allocation of the job was refused.</summary>
    public long RefusalCount => Volatile.Read(ref _refusalCount);

    /// <summary>Notes what the job would have needed. Under the lock.</summary>
    public void NoteRefusal(long neededBytes)
    {
        Debug.Assert(Lock.IsHeld);
        _refusedBytes = Math.Max(_refusedBytes, neededBytes);
        Volatile.Write(ref _refusalCount, _refusalCount + 1);
    }

    /// <summary>Notes that an allocation, which is admitted and still charged, was refused by the container or the system.</summary>
    public void NoteRefusal()
    {
        using ShortLock.Section section = Lock.Enter();
        NoteRefusal(UsedBytes);
    }

    /// <summary>Returns the account for its growth: bytes taken there are reserved here, by the same queue and rules.</summary>
    public BudgetAccount AsGrowth() => new Growth(this);

    /// <summary>
    /// Returns unused bytes, and serves waiting requests; for finalizers on the background thread. False if it was closed before.
    /// Outstanding bytes stay charged.
    /// </summary>
    public bool Close(bool byFinalizer = false)
    {
        using (Lock.Enter())
        {
            if (_isClosed)
            {
                return false;
            }

            // Outstanding memory belongs to no reservation from here on.
            HoldSpare();
            LeaveEnded();
            long unused = ChargedBytes - _usedBytes;
            NoteCharge(_nestedBytes - ChargedBytes);
            Volatile.Write(ref _isClosed, true);
            End(Math.Max(_peakUsedBytes, _refusedBytes), isRefused: _refusalCount > 0);
            if (unused != 0)
            {
                _parent?.EndCharge(unused);
            }
        }

        Budget?.ServeWaiters(byFinalizer);
        return true;
    }

    private bool TryChangeSpare(long bytes)
    {
        Debug.Assert(bytes != 0);
        for (long spare = Volatile.Read(ref _spareBytes), seen; spare >= 0 && spare + bytes >= 0; spare = seen)
        {
            seen = Interlocked.CompareExchange(ref _spareBytes, spare + bytes, spare);
            if (seen == spare)
            {
                return true;
            }
        }

        return false;
    }

    private bool TryTakeSlow(long bytes, bool overtakes, bool passesOn)
    {
        using ShortLock.Section section = Lock.Enter();
        HoldSpare();
        long extra = ExtraFor(bytes);
        bool isPossible = (passesOn || !_isClosed) && bytes <= long.MaxValue - _usedBytes;
        bool isTaken = isPossible && (extra == 0 || TryTakeOfParent(extra, overtakes));
        Volatile.Write(ref _overflowCount, _overflowCount + (isTaken && extra > 0 ? 1 : 0));
        Change(usedBytes: isTaken ? bytes : 0);
        return isTaken;
    }

    // Under the lock. Until the next change, bytes are taken and returned only under it.
    private void HoldSpare()
    {
        Debug.Assert(Lock.IsHeld);
        long spare = Interlocked.Exchange(ref _spareBytes, -1);
        _usedBytes = spare < 0 ? _usedBytes : SpareWhenIdle - spare;
    }

    // The bytes beyond what is left. Not computed from a sum, which would wrap for absurdly large requests.
    private long ExtraFor(long bytes) => Math.Max(0, bytes - (ChargedBytes - UsedBytes));

    private long ChargeOfParent(long bytes) => bytes > 0 && _parent is not null ? _parent.ChargeFor(bytes) : bytes;

    // The overflow shrinks first. It grows if more is used than is charged.
    private void Change(long reservedBytes = 0, long usedBytes = 0)
    {
        HoldSpare();
        Debug.Assert(_usedBytes + usedBytes >= 0 && _reservedBytes + reservedBytes >= 0, "No more comes back than was taken.");
        long before = ChargedBytes;
        _usedBytes += usedBytes;
        Volatile.Write(ref _peakUsedBytes, _isClosed ? _peakUsedBytes : Math.Max(_peakUsedBytes, _usedBytes));
        Volatile.Write(ref _reservedBytes, _reservedBytes + reservedBytes);
        _overflowBytes = Math.Max(Math.Max(0, _overflowBytes + Math.Min(0, usedBytes)), _usedBytes - _reservedBytes);
        NoteCharge(ChargedBytes - before);
        if (!_isClosed && _overflowBytes == 0)
        {
            Volatile.Write(ref _spareBytes, SpareWhenIdle - _usedBytes);
        }
    }

    private bool TryTakeOfParent(long bytes, bool overtakes)
    {
        LeaveEnded();
        return IsLearned && !_isClosed && _parent is MemoryBudget budget
            ? budget.TryGrow(bytes, overtakes)
            : _parent?.TryTake(bytes, overtakes) != false;
    }

    private void End(long neededBytes, bool isRefused)
    {
        // Its parent may be another one than when it began: what enclosed the outer job, which has ended.
        if (Job.Budget is { } budget)
        {
            budget.End(Job, neededBytes, isRefused);
        }
        else if (Serial != 0)
        {
            // A part of another job, which counts what both use elsewhere; or nothing limits it.
            Job.Learned?.End(Job.Size, neededBytes, elsewhereBytes: null, isSolo: false, isRefused);
        }
    }

    // If the reservation that it is a part of has ended, the charge goes to what encloses that one. Jobs that begin each other would
    // otherwise form a chain without an end.
    private void LeaveEnded()
    {
        Debug.Assert(Lock.IsHeld);
        while (Outer is { _isClosed: true } ended)
        {
            ended.Change(usedBytes: -ChargedBytes);
            Volatile.Write(ref _parent, ended._parent);
        }
    }

    private bool Shrink(long reservedBytes = 0, long usedBytes = 0)
    {
        LeaveEnded();
        long before = ChargedBytes;
        Change(-reservedBytes, -usedBytes);
        return before != ChargedBytes && _parent?.EndCharge(before - ChargedBytes) != false;
    }

    private void NoteCharge(long bytes)
    {
        Debug.Assert(Lock.IsHeld);
        if (!_isClosed && _parent is MemoryBudget budget)
        {
            budget.ReservedBytes += bytes;
        }
        else if (!_isClosed && Outer is { } outer)
        {
            outer._nestedBytes += bytes;
        }
    }

    internal sealed class Growth(ReservationAccount reservation) : BudgetAccount(reservation.Budget)
    {
        public override ReservationAccount? OutermostReservation => reservation.OutermostReservation;

        public override bool IsClosed => reservation.IsClosed;

        public override ShortLock Lock => reservation.Lock;

        public override bool TryTake(long bytes, bool overtakes)
        {
            Debug.Assert(bytes > 0);
            using ShortLock.Section section = Lock.Enter();
            bool isAbsurd = bytes > long.MaxValue - reservation._reservedBytes;
            if (reservation._isClosed || isAbsurd || !reservation.TryTakeOfParent(bytes, overtakes))
            {
                return false;
            }

            reservation.Change(reservedBytes: bytes);
            return true;
        }

        public override long ChargeFor(long bytes)
        {
            using ShortLock.Section section = Lock.Enter();
            return reservation.ChargeOfParent(bytes);
        }

        // Reserved bytes stay reserved until the end, so the limit must hold them and the growth together.
        public override long LeastChargeWith(long bytes) => ByteCount.Add(reservation.ReservedBytes, bytes);

        // The part that is in use by now becomes overflow.
        public override bool EndCharge(long bytes)
        {
            using ShortLock.Section section = Lock.Enter();
            // The reserved bytes of a closed account have been returned already.
            return !reservation._isClosed && reservation.Shrink(reservedBytes: bytes);
        }
    }
}
