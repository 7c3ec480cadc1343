using Allocator.Native;

namespace Allocator.Budgeting;

/// <summary>
/// A part of a budget, taken before it is used. Its outstanding memory counts against it. Its parent is charged with what is reserved,
/// and with the overflow: what was taken when no reserved byte was left.
/// </summary>
/// <remarks>
/// The overflow is what comes back first. While there is any, growth is in addition to it, so that what a job has grown by is there.
/// </remarks>
[DebuggerDisplay("{ReservedBytes} reserved, {_overflowBytes} overflow, {UsedBytes} used, closed: {_isClosed}")]
internal sealed class ReservationAccount : BudgetAccount
{
    private static long s_lastSerial;

    private readonly BudgetAccount? _parent;
    private long _reservedBytes;
    private long _overflowBytes;
    private long _usedBytes;
    private long _peakUsedBytes;

    // What may be taken without the lock: up to what was reserved, and up to the peak, so that neither it nor the parent has to know.
    // Below 0 while the counts are changed under the lock, where there is an overflow, and once the account is closed.
    private long _spareBytes;
    private long _overflowCount;
    private long _refusedBytes;
    private bool _isClosed;

    /// <summary>Makes the account. The bytes have been taken from the parent; otherwise <see cref="Grant"/> has to follow.</summary>
    public ReservationAccount(BudgetAccount? parent, long reservedBytes, bool isGranted = true)
        : base(parent?.Budget)
    {
        Debug.Assert(reservedBytes >= 0);
        _parent = parent;
        Lock = parent?.Lock ?? new ShortLock();
        if (isGranted)
        {
            Grant(reservedBytes);
        }
    }

    /// <summary>Gets what was reserved at first, on which its place in the queue depends: growth does not change it.</summary>
    public long OriginalBytes { get; private set; }

    /// <summary>Gets the job that learns from this reservation; null where its size was given.</summary>
    public LearnedJob? Job { get; init; }

    public long ReservedBytes => Volatile.Read(ref _reservedBytes);

    /// <summary>Gets a number that grows from reservation to reservation: the youngest has the highest.</summary>
    public long Serial { get; private set; }

    /// <summary>Gets or sets which look for a deadlock counted this reservation last. Under the lock.</summary>
    public long LastLook { get; set; }

    public override ShortLock Lock { get; }

    public override ReservationAccount? OutermostReservation => _parent?.OutermostReservation ?? this;

    public bool IsParentClosed => _parent?.IsClosed == true;

    public override bool IsClosed => Volatile.Read(ref _isClosed) || IsParentClosed;

    /// <summary>Gets what is outstanding. Under the lock.</summary>
    public long UsedBytes
    {
        get
        {
            Debug.Assert(Lock.IsHeld);
            return Volatile.Read(ref _spareBytes) is >= 0 and long spare ? SpareWhenIdle - spare : _usedBytes;
        }
    }

    public long PeakUsedBytes => Volatile.Read(ref _peakUsedBytes);

    /// <summary>Gets how often more was taken than was reserved and not outstanding.</summary>
    public long OverflowCount => Volatile.Read(ref _overflowCount);

    /// <summary>Gets what can be taken without a charge to the parent.</summary>
    public long RemainingBytes
    {
        get
        {
            using (Lock.Enter())
            {
                return _isClosed ? 0 : ChargedBytes - UsedBytes;
            }
        }
    }

    /// <summary>Gets what the parent is charged with. Under the lock.</summary>
    public long ChargedBytes
    {
        get
        {
            Debug.Assert(Lock.IsHeld);
            return _isClosed ? _usedBytes : ByteCount.Add(_reservedBytes, _overflowBytes);
        }
    }

    private long SpareWhenIdle => Math.Min(_reservedBytes, _peakUsedBytes);

    public override bool TryTake(long bytes, bool overtakes) => TryTake(bytes, overtakes, passesOn: false);

    /// <summary>Takes bytes; of a closed account too where it passes on what is taken to its parent.</summary>
    public bool TryTake(long bytes, bool overtakes, bool passesOn) =>
        TryChangeSpare(-bytes) || TryTakeSlow(bytes, overtakes, passesOn);

    public override long ChargeFor(long bytes)
    {
        using (Lock.Enter())
        {
            return ChargeOfParent(ExtraFor(bytes));
        }
    }

    public override void EndCharge(long bytes)
    {
        if (TryChangeSpare(bytes))
        {
            return;
        }

        using (Lock.Enter())
        {
            Shrink(usedBytes: bytes);
        }
    }

    /// <summary>Begins the reservation, whose bytes have been taken from the parent. Allocates nothing.</summary>
    public void Grant(long reservedBytes)
    {
        OriginalBytes = reservedBytes;
        Serial = Interlocked.Increment(ref s_lastSerial);
        using (Lock.Enter())
        {
            Debug.Assert(_reservedBytes == 0 && !_isClosed);
            Volatile.Write(ref _reservedBytes, OriginalBytes);
            NoteCharge(OriginalBytes);
        }
    }

    /// <summary>Notes what the job would have needed beside what it had. Under the lock.</summary>
    public void NoteRefusal(long neededBytes)
    {
        Debug.Assert(Lock.IsHeld);
        _refusedBytes = Math.Max(_refusedBytes, neededBytes);
    }

    /// <summary>Returns the side on which it grows: what is taken there is reserved here, by the same queue and rules.</summary>
    public BudgetAccount AsGrowth() => new Growth(this);

    /// <summary>
    /// Gives back what is not used, and serves waiting requests, for finalizers on the background thread; false where it is closed. What
    /// is outstanding stays charged.
    /// </summary>
    public bool Close(bool byFinalizer = false)
    {
        using (Lock.Enter())
        {
            if (_isClosed)
            {
                return false;
            }

            // What stays outstanding belongs to no reservation from here on.
            HoldSpare();
            long unused = ChargedBytes - _usedBytes;
            NoteCharge(-ChargedBytes);
            Volatile.Write(ref _isClosed, true);
            Job?.End(Math.Max(_peakUsedBytes, _refusedBytes), isRefused: _refusedBytes > 0);
            if (unused != 0)
            {
                _parent?.EndCharge(unused);
            }
        }

        if (byFinalizer)
        {
            Budget?.ServeWaitersLater();
        }
        else
        {
            Budget?.ServeWaiters();
        }

        return true;
    }

    private bool TryChangeSpare(long bytes)
    {
        Debug.Assert(bytes != 0);
        for (long spare = Volatile.Read(ref _spareBytes); spare >= 0 && spare + bytes >= 0;)
        {
            long seen = Interlocked.CompareExchange(ref _spareBytes, spare + bytes, spare);
            if (seen == spare)
            {
                return true;
            }

            spare = seen;
        }

        return false;
    }

    private bool TryTakeSlow(long bytes, bool overtakes, bool passesOn)
    {
        using (Lock.Enter())
        {
            HoldSpare();
            long extra = ExtraFor(bytes);
            bool isPossible = (passesOn || !_isClosed) && bytes <= long.MaxValue - _usedBytes;
            bool isTaken = isPossible && (extra == 0 || _parent is null || _parent.TryTake(extra, overtakes));
            Volatile.Write(ref _overflowCount, _overflowCount + (isTaken && extra > 0 ? 1 : 0));
            Change(usedBytes: isTaken ? bytes : 0);
            return isTaken;
        }
    }

    // Under the lock: from here on nothing is taken or given back without it, until the next change.
    private void HoldSpare()
    {
        Debug.Assert(Lock.IsHeld);
        long spare = Interlocked.Exchange(ref _spareBytes, -1);
        _usedBytes = spare < 0 ? _usedBytes : SpareWhenIdle - spare;
    }

    // What is taken exceeds what is left by so much. Not from a sum, which wraps where absurdly much is asked for.
    private long ExtraFor(long bytes) => Math.Max(0, bytes - (ChargedBytes - UsedBytes));

    private long ChargeOfParent(long bytes) => bytes > 0 && _parent is not null ? _parent.ChargeFor(bytes) : bytes;

    // The overflow is the first to shrink, and grows where more is used than is charged.
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

    private void Shrink(long reservedBytes = 0, long usedBytes = 0)
    {
        long before = ChargedBytes;
        Change(-reservedBytes, -usedBytes);
        if (before != ChargedBytes)
        {
            _parent?.EndCharge(before - ChargedBytes);
        }
    }

    private void NoteCharge(long bytes)
    {
        Debug.Assert(Lock.IsHeld);
        if (!_isClosed && _parent is MemoryBudget budget)
        {
            budget.ReservedBytes += bytes;
        }
    }

    private sealed class Growth : BudgetAccount
    {
        private readonly ReservationAccount _reservation;

        public Growth(ReservationAccount reservation)
            : base(reservation.Budget) => _reservation = reservation;

        public override ReservationAccount? OutermostReservation => _reservation.OutermostReservation;

        public override bool IsClosed => _reservation.IsClosed;

        public override ShortLock Lock => _reservation.Lock;

        public override bool TryTake(long bytes, bool overtakes)
        {
            Debug.Assert(bytes > 0);
            using (Lock.Enter())
            {
                bool isAbsurd = bytes > long.MaxValue - _reservation._reservedBytes;
                if (_reservation._isClosed || isAbsurd || _reservation._parent?.TryTake(bytes, overtakes) == false)
                {
                    return false;
                }

                _reservation.Change(reservedBytes: bytes);
                return true;
            }
        }

        public override long ChargeFor(long bytes)
        {
            using (Lock.Enter())
            {
                return _reservation.ChargeOfParent(bytes);
            }
        }

        // What is reserved stays reserved until the end, so the two have to fit together.
        public override long LeastChargeWith(long bytes) => ByteCount.Add(_reservation.ReservedBytes, bytes);

        // What of it is in use by now becomes overflow.
        public override void EndCharge(long bytes)
        {
            using (Lock.Enter())
            {
                // What a closed account had reserved is back already.
                if (!_reservation._isClosed)
                {
                    _reservation.Shrink(reservedBytes: bytes);
                }
            }
        }
    }
}
