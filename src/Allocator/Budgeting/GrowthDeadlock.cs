using System;
using System.Collections.Generic;
using System.Threading;
using Allocator.Native;

namespace Allocator.Budgeting;

/// <summary>
/// Finds reservations that wait for each other: where all that hold memory wait for more, none could ever go on. Memory outside of
/// reservations may come back or not, nobody knows: it is waited for, but not for ever.
/// </summary>
internal sealed class GrowthDeadlock : IDisposable
{
    private static readonly TimeSpan s_shortestPatience = TimeSpan.FromSeconds(5);

    private readonly MemoryBudget _budget;
    private readonly Clock _clock;
    private readonly long _patienceMilliseconds;
    private readonly ClockTimer? _timer;

    // Under the lock of the queue.
    private long _looks;
    private long? _since;
    private long _timerDue;

    /// <param name="budget">The budget.</param>
    /// <param name="clock">The time.</param>
    /// <param name="timeout">How long synchronous calls wait; below zero for ever.</param>
    public GrowthDeadlock(MemoryBudget budget, Clock clock, TimeSpan timeout)
    {
        _budget = budget;
        _clock = clock;
        _patienceMilliseconds = timeout < TimeSpan.Zero
            ? long.MaxValue
            : (long)Math.Max(timeout.TotalMilliseconds, s_shortestPatience.TotalMilliseconds);

        // Made now: a request that waits for it must not be lost because it cannot be made later.
        _timer = _patienceMilliseconds == long.MaxValue ? null : clock.CreateTimer(OnTimer);
    }

    /// <summary>
    /// Returns the youngest of the reservations that wait, where nothing can move any more; its growth has to fail, so that the others
    /// go on. Under the lock.
    /// </summary>
    public ReservationAccount? Find(LinkedList<BudgetRequest> ofReservations)
    {
        ReservationAccount? youngest = FindYoungest(ofReservations);
        if (youngest is null)
        {
            _since = null;
            return null;
        }

        if (_budget.AdmittedBytes > _budget.ReservedBytes)
        {
            long now = _clock.NowMilliseconds;
            long since = _since ??= now;
            if (now - since < _patienceMilliseconds)
            {
                return null;
            }
        }

        _since = null;
        return youngest;
    }

    /// <summary>
    /// Returns when to look again, for <see cref="StartTimer"/>; 0 for not, or where the timer is set for then. Under the lock.
    /// </summary>
    public long TakeDue()
    {
        if (_since is not long since || _timer is null || _timerDue == since + _patienceMilliseconds)
        {
            return 0;
        }

        _timerDue = since + _patienceMilliseconds;
        return _timerDue;
    }

    /// <summary>Starts the timer. Not under the lock, because timers have locks of their own. Never throws.</summary>
    public void StartTimer(long due)
    {
        bool isStarted = false;
        bool wasInterrupted = false;
        while (!isStarted)
        {
            try
            {
                _timer!.Start(TimeSpan.FromMilliseconds(Math.Max(1, due - _clock.NowMilliseconds)));
                isStarted = true;
            }
            catch (ThreadInterruptedException)
            {
                // From a lock within the timer. The interrupt is meant for what the caller does next.
                wasInterrupted = true;
            }
            catch (Exception e) when (e is OutOfMemoryException or ObjectDisposedException)
            {
                // The tick of the trimmer serves waiters too; and where the allocator was disposed none waits.
                isStarted = true;
            }
        }

        if (wasInterrupted)
        {
            Thread.CurrentThread.Interrupt();
        }
    }

    public void Dispose() => _timer?.Dispose();

    private void OnTimer()
    {
        using (_budget.Lock.Enter())
        {
            _timerDue = 0;
        }

        Background.Run(_budget);
    }

    // Null where one that holds memory does not wait. One that holds nothing waits like a request without a reservation.
    private ReservationAccount? FindYoungest(LinkedList<BudgetRequest> ofReservations)
    {
        long ofWaiting = 0;
        ReservationAccount? youngest = null;
        _looks++;
        foreach (BudgetRequest request in ofReservations)
        {
            ReservationAccount reservation = request.Reservation!;
            if (reservation.LastLook != _looks && reservation.ChargedBytes > 0)
            {
                reservation.LastLook = _looks;
                ofWaiting += reservation.ChargedBytes;
                youngest = youngest?.Serial > reservation.Serial ? youngest : reservation;
            }
        }

        return ofWaiting < _budget.ReservedBytes ? null : youngest;
    }
}
