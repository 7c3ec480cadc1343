using System;
using System.Collections.Generic;
using Allocator.Native;

namespace Allocator.Budgeting;

/// <summary>
/// Finds reservations that wait for each other: where all that hold memory wait for more, none could ever go on. Memory outside of
/// reservations may come back or not: it is waited for, but not for ever. Used under the lock of the queue, also by the ticks of the trim
/// scheduler, which go on while any request waits.
/// </summary>
internal sealed class GrowthDeadlock
{
    private static readonly TimeSpan s_shortestPatience = TimeSpan.FromSeconds(5);

    private readonly MemoryBudget _budget;
    private readonly Clock _clock;
    private readonly long _patienceMilliseconds;
    private long _looks;
    private long? _since;

    /// <summary>Makes one for a budget on which synchronous calls wait that long; below zero for ever.</summary>
    public GrowthDeadlock(MemoryBudget budget, Clock clock, TimeSpan timeout)
    {
        _budget = budget;
        _clock = clock;
        _patienceMilliseconds = timeout < TimeSpan.Zero
            ? long.MaxValue
            : (long)Math.Max(timeout.TotalMilliseconds, s_shortestPatience.TotalMilliseconds);
    }

    /// <summary>
    /// Returns the youngest of the reservations that wait, whose growth has to fail, where nothing can move any more: not now, nor when
    /// so much was admitted, before the last look at what fits.
    /// </summary>
    public ReservationAccount? Find(LinkedList<BudgetRequest> ofReservations, long admittedBytes)
    {
        ReservationAccount? youngest = FindYoungest(ofReservations);
        if (youngest is not null && Math.Max(admittedBytes, _budget.AdmittedBytes) > _budget.ReservedBytes)
        {
            long now = _clock.NowMilliseconds;
            _since ??= now;
            if (now - _since < _patienceMilliseconds)
            {
                return null;
            }
        }

        _since = null;
        return youngest;
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
