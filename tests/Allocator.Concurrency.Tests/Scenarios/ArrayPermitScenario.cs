using Allocator.Budgeting;
using Allocator.Diagnostics;
using Allocator.Lifetime;

namespace Allocator.Concurrency.Scenarios;

/// <summary>Arrays that keep their permits while they lie idle, and threads that rent them, or wait for the budget.</summary>
internal sealed class ArrayPermitScenario : Scenario
{
    private const int Length = 16;

    private readonly MemoryBudget _budget;
    private readonly AllocatorContext _context;
    private readonly CountedArrayPool _pool;
    private readonly ReservationAccount? _reservation;
    private readonly List<BudgetRequest> _requests = [];
    private readonly List<BudgetRequest> _served = [];
    private readonly List<(CountedArrayGuard Array, long Generation)> _held = [];
    private int _renters;

    /// <summary>Makes a scenario with a budget for so many arrays, and what is reserved.</summary>
    public ArrayPermitScenario(int arrays, int reserved = 0)
    {
        _budget = new MemoryBudget((arrays + reserved) * Length, new StillClock());
        _context = new AllocatorContext(new AllocatorCounters(), new StillClock(), new Quarantine(new StillClock())) { Budget = _budget };
        _pool = new CountedArrayPool(_context, 4 * Length, requestCollection: null);
        _budget.Idle = _pool;
        if (reserved > 0)
        {
            Assert.True(_budget.TryTake(reserved * Length, overtakes: false));
            _reservation = new ReservationAccount(_budget, reserved * Length);
        }
    }

    /// <summary>Has an array lie idle from the start, with its permit.</summary>
    public ArrayPermitScenario Keeps()
    {
        (CountedArrayGuard array, long generation) = Make();
        array.Dispose(generation);
        return this;
    }

    /// <summary>Adds a thread that returns an array of the budget, and rents one at once where it is told to, which it keeps.</summary>
    public ArrayPermitScenario Returns(bool rents = false)
    {
        (CountedArrayGuard array, long generation) = Make();
        Thread("returns", () =>
        {
            array.Dispose(generation);
            if (rents)
            {
                Rent(_budget);
            }
        });
        return this;
    }

    /// <summary>Adds a thread that rents an idle array, and keeps it.</summary>
    public ArrayPermitScenario Rents(bool ofReservation = false)
    {
        Thread("rents " + _renters++, () => Rent(ofReservation ? _reservation! : _budget));
        return this;
    }

    /// <summary>Adds a thread that asks the budget for an array, and waits for it.</summary>
    public ArrayPermitScenario Waits()
    {
        BudgetRequest request = new(_budget, Length);
        _requests.Add(request);
        Thread("waits " + _requests.Count, () =>
        {
            if (_budget.TryTakeNow(Length))
            {
                _served.Add(request);
            }
            else
            {
                _budget.Post(request);
            }
        });
        return this;
    }

    public ArrayPermitScenario Drains()
    {
        Thread("drains", _pool.ReleasePermits);
        return this;
    }

    public ArrayPermitScenario Trims()
    {
        Thread("trims", () => _pool.Trim(long.MaxValue, TrimReason.Requested));
        return this;
    }

    public ArrayPermitScenario Closes()
    {
        Thread("closes", _pool.Close);
        return this;
    }

    public override void Check()
    {
        Assert.InRange(_budget.AdmittedBytes, 0, _budget.LimitInBytes);
        Assert.Equal(_held.Count, _held.Distinct().Count());
        bool isIdle = _budget.UsedBytes + Length <= _budget.LimitInBytes;
        Assert.False(isIdle && _requests.Exists(static request => request.IsWaiting), "A request waits beside idle memory.");
        _held.ForEach(static rent => rent.Array.Dispose(rent.Generation));
        while (_requests.Find(request => request.IsGranted || _served.Contains(request)) is BudgetRequest served)
        {
            _requests.Remove(served);
            served.Account.Return(served.Bytes);
        }

        Assert.False(_requests.Exists(static request => request.IsWaiting), "A request waits for ever.");
        _reservation?.Close();
        Assert.Equal(0, _budget.UsedBytes);
        Assert.Equal((_pool.HeldBytes, _budget.AdmittedBytes), (_pool.IdleBytes, _pool.KeptBytes));
        ArrayCounts counts = _pool.Records.Sum();
        Assert.Equal((counts.Rents, 0L), (counts.Returns, counts.RentedBytes));
        _pool.Close();
        Assert.Equal((0L, 0L, 0L), (_pool.HeldBytes, _budget.AdmittedBytes, _budget.CommittedBytes));
    }

    // As the pipeline does.
    private (CountedArrayGuard Array, long Generation) Make()
    {
        Refusals refusals = default;
        Assert.True(_budget.TryTake(Length, overtakes: false));
        CountedArrayGuard array = _pool.TryRent(Length, ref refusals, out _)!;
        array.Prepare(Length, clean: false);
        long generation = array.BeginAllocation();
        array.Charge(new BudgetPermit(_budget, Length));
        return (array, generation);
    }

    private void Rent(BudgetAccount account)
    {
        if (CountedArrayGuard.TryRentIdle(_pool, account, Length, out long generation) is CountedArrayGuard array)
        {
            Assert.Equal(account, array.Account);
            _held.Add((array, generation));
        }
    }
}
