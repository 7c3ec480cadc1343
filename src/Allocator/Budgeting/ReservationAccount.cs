using System;
using System.Diagnostics;
using System.Threading;

namespace Allocator.Budgeting;

/// <summary>
/// A part of a budget, taken before it is used. Its outstanding memory counts against it; its parent is charged with the larger of the two: what is reserved, or what is outstanding.
/// </summary>
internal sealed class ReservationAccount : BudgetAccount
{
    private static long s_lastSerial;

    private readonly BudgetAccount? _parent;
    private long _usedBytes;
    private long _peakUsedBytes;
    private bool _isClosed;

    /// <summary>Makes the account. The bytes have been taken from the parent.</summary>
    public ReservationAccount(BudgetAccount? parent, long reservedBytes)
    {
        Debug.Assert(reservedBytes >= 0);
        _parent = parent;
        Lock = parent?.Lock ?? new ShortLock();
        ReservedBytes = reservedBytes;
        Serial = Interlocked.Increment(ref s_lastSerial);
        using (Lock.Enter())
        {
            NoteCharge(reservedBytes);
        }
    }

    public long ReservedBytes { get; }

    /// <summary>Gets a number that grows from reservation to reservation: the youngest has the highest.</summary>
    public long Serial { get; }

    /// <summary>Gets or sets which look for a deadlock counted this reservation last. Under the lock.</summary>
    public long LastLook { get; set; }

    public override ShortLock Lock { get; }

    public override MemoryBudget? Budget => _parent?.Budget;

    public override ReservationAccount? OutermostReservation => _parent?.OutermostReservation ?? this;

    public override bool IsClosed => Volatile.Read(ref _isClosed) || _parent?.IsClosed == true;

    /// <summary>Gets what is outstanding.</summary>
    public long UsedBytes => Volatile.Read(ref _usedBytes);

    /// <summary>Gets the most that was outstanding at once.</summary>
    public long PeakUsedBytes => Volatile.Read(ref _peakUsedBytes);

    /// <summary>Gets what is reserved and not outstanding.</summary>
    public long RemainingBytes => Volatile.Read(ref _isClosed) ? 0 : Math.Max(0, ReservedBytes - UsedBytes);

    /// <summary>Gets what the parent is charged with. Under the lock.</summary>
    public long ChargedBytes => ChargeOf(_usedBytes);

    public override bool TryTake(long bytes, bool overtakes)
    {
        using (Lock.Enter())
        {
            if (_isClosed)
            {
                return false;
            }

            long extra = ChargeOf(_usedBytes + bytes) - ChargedBytes;
            if (extra > 0 && _parent is not null && !_parent.TryTake(extra, overtakes))
            {
                return false;
            }

            NoteCharge(extra);
            Use(bytes);
            return true;
        }
    }

    public override long ChargeFor(long bytes)
    {
        using (Lock.Enter())
        {
            long extra = ChargeOf(_usedBytes + bytes) - ChargedBytes;
            return extra > 0 && _parent is not null ? _parent.ChargeFor(extra) : extra;
        }
    }

    public override void GiveBack(long bytes)
    {
        using (Lock.Enter())
        {
            long before = ChargedBytes;
            Use(-bytes);
            GiveParent(before - ChargedBytes);
        }
    }

    /// <summary>Gives back what is not used. Outstanding memory stays on the parent's account until it comes back. A second call does nothing.</summary>
    public void Close()
    {
        if (TryClose())
        {
            Budget?.ServeWaiters();
        }
    }

    /// <summary>As <see cref="Close"/>, with waiting requests served on the thread pool: for finalizers, which only flip states.</summary>
    public void CloseLater()
    {
        if (TryClose())
        {
            ServeWaitersLater();
        }
    }

    private bool TryClose()
    {
        using (Lock.Enter())
        {
            if (_isClosed)
            {
                return false;
            }

            // What stays outstanding belongs to no reservation from here on.
            long unused = ChargedBytes - _usedBytes;
            NoteCharge(-ChargedBytes);
            Volatile.Write(ref _isClosed, true);
            if (unused != 0)
            {
                _parent?.GiveBack(unused);
            }

            return true;
        }
    }

    private void Use(long bytes)
    {
        Volatile.Write(ref _usedBytes, _usedBytes + bytes);
        Volatile.Write(ref _peakUsedBytes, Math.Max(_peakUsedBytes, _usedBytes));
    }

    private void GiveParent(long bytes)
    {
        if (bytes != 0)
        {
            NoteCharge(-bytes);
            _parent?.GiveBack(bytes);
        }
    }

    private void NoteCharge(long bytes)
    {
        if (!_isClosed && _parent is MemoryBudget budget)
        {
            budget.ReservedBytes += bytes;
        }
    }

    private long ChargeOf(long usedBytes) => _isClosed ? usedBytes : Math.Max(ReservedBytes, usedBytes);
}
