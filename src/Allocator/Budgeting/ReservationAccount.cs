using System;
using System.Threading;

namespace Allocator.Budgeting;

/// <summary>
/// A part of a budget, taken before it is used. What is out of it counts against it; its parent is charged with the larger of the two: what is reserved, or what is out.
/// </summary>
internal sealed class ReservationAccount : BudgetAccount
{
    // The sign bit of the word: closing it and using it are then one decision.
    private const long Closed = long.MinValue;

    private static long s_lastSerial;

    private readonly BudgetAccount? _parent;
    private long _state;

    /// <summary>Makes the account. pre: the bytes have been taken from the parent.</summary>
    public ReservationAccount(BudgetAccount? parent, long reservedBytes)
    {
        _parent = parent;
        ReservedBytes = reservedBytes;
        Serial = Interlocked.Increment(ref s_lastSerial);
    }

    public long ReservedBytes { get; }

    /// <summary>Gets a number that grows from reservation to reservation: the youngest has the highest.</summary>
    public long Serial { get; }

    /// <summary>Gets or sets which look for a deadlock counted this reservation last. Of whoever serves the queue.</summary>
    public long LastLook { get; set; }

    public override MemoryBudget? Budget => _parent?.Budget;

    public override ReservationAccount? OutermostReservation => _parent?.OutermostReservation ?? this;

    public override bool IsClosed => Volatile.Read(ref _state) < 0 || _parent?.IsClosed == true;

    /// <summary>Gets what is reserved and not out.</summary>
    public long RemainingBytes
    {
        get
        {
            long state = Volatile.Read(ref _state);
            return Math.Max(0, Reserved(state) - Used(state));
        }
    }

    /// <summary>Gets what the parent is charged with.</summary>
    public long ChargedBytes
    {
        get
        {
            long state = Volatile.Read(ref _state);
            return Charge(state, Used(state));
        }
    }

    public override bool TryTake(long bytes, bool overtakes)
    {
        while (true)
        {
            long state = Volatile.Read(ref _state);
            if (state < 0)
            {
                return false;
            }

            long extra = Charge(state, Used(state) + bytes) - Charge(state, Used(state));
            if (extra > 0 && _parent is not null && !_parent.TryTake(extra, overtakes))
            {
                return false;
            }

            if (Interlocked.CompareExchange(ref _state, state + bytes, state) == state)
            {
                return true;
            }

            // Somebody took or gave back meanwhile: then another part may be the parent's.
            if (extra > 0)
            {
                _parent?.Return(extra);
            }
        }
    }

    public override void GiveBack(long bytes)
    {
        while (true)
        {
            long state = Volatile.Read(ref _state);
            long used = Used(state);
            if (Interlocked.CompareExchange(ref _state, state - bytes, state) == state)
            {
                GiveParent(Charge(state, used) - Charge(state, used - bytes));
                return;
            }
        }
    }

    /// <summary>Gives back what is not used. What is out stays on the parent's account until it comes back. A second call does nothing.</summary>
    public void Close()
    {
        if (TryClose())
        {
            Budget?.ServeWaiters();
        }
    }

    /// <summary>As <see cref="Close"/>, with those who wait served on the thread pool: for finalizers, which only flip states.</summary>
    public void CloseLater()
    {
        if (TryClose())
        {
            ServeWaitersLater();
        }
    }

    private bool TryClose()
    {
        while (true)
        {
            long state = Volatile.Read(ref _state);
            if (state < 0)
            {
                return false;
            }

            if (Interlocked.CompareExchange(ref _state, state | Closed, state) == state)
            {
                GiveParent(Charge(state, Used(state)) - Used(state));
                return true;
            }
        }
    }

    private void GiveParent(long bytes)
    {
        if (bytes != 0)
        {
            _parent?.GiveBack(bytes);
        }
    }

    private long Charge(long state, long usedBytes) => Math.Max(Reserved(state), usedBytes);

    private long Reserved(long state) => state < 0 ? 0 : ReservedBytes;

    private static long Used(long state) => state & ~Closed;
}
