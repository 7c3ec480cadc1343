namespace Allocator.Budgeting;

/// <summary>
/// The side of a reservation on which it grows: what is taken here is reserved there. So growth is a request like any other, in the
/// same queue and by the same rules.
/// </summary>
internal sealed class ReservationGrowth : BudgetAccount
{
    private readonly ReservationAccount _reservation;

    public ReservationGrowth(ReservationAccount reservation) => _reservation = reservation;

    public override MemoryBudget? Budget => _reservation.Budget;

    public override ReservationAccount? OutermostReservation => _reservation.OutermostReservation;

    public override bool IsClosed => _reservation.IsClosed;

    public override ShortLock Lock => _reservation.Lock;

    public override bool TryTake(long bytes, bool overtakes) => _reservation.TryGrow(bytes, overtakes);

    public override long ChargeFor(long bytes) => _reservation.ChargeForGrowth(bytes);

    // What is reserved stays reserved until the end, so the two have to fit together.
    public override long LeastChargeWith(long bytes)
    {
        long reserved = _reservation.ReservedBytes;
        return bytes > long.MaxValue - reserved ? long.MaxValue : reserved + bytes;
    }

    public override void GiveBack(long bytes) => _reservation.Shrink(bytes);
}
