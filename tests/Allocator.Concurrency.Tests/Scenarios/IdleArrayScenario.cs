using Allocator.Budgeting;
using Allocator.Concurrency.Seam;
using Allocator.Diagnostics;
using Allocator.Lifetime;

namespace Allocator.Concurrency.Scenarios;

/// <summary>
/// A budget for one array, which lies idle or is held at first, and threads that rent it without a plan, are admitted, wait or trim.
/// </summary>
internal sealed class IdleArrayScenario : Scenario
{
    private const int Length = 16;

    private readonly MemoryBudget _budget = new(Length, new StillClock());
    private readonly CountedArrayPool _pool;
    private readonly List<(CountedArrayGuard Array, long Generation)> _held = [];
    private readonly List<BudgetRequest> _requests = [];
    private readonly List<BudgetRequest> _takenAtOnce = [];
    private readonly CountedArrayGuard _array;
    private readonly long _generation = -1;
    private int _users;
    private bool _closes;

    public IdleArrayScenario(bool isHeld = false)
    {
        WorkItems.Clear();
        AllocatorContext context = new(new AllocatorCounters(), new StillClock(), new Quarantine(new StillClock()), _budget);
        _pool = new CountedArrayPool(context, 2 * Length, requestCollection: null);
        Assert.True(_budget.TryTake(Length, overtakes: false));
        (_array, long generation) = Fill()!.Value;
        if (isHeld)
        {
            _generation = generation;
        }
        else
        {
            _array.Dispose(generation);
        }
    }

    /// <summary>Adds a thread that rents the array as the fast path does, and keeps it.</summary>
    public IdleArrayScenario Rents()
    {
        Thread("rents", () =>
        {
            if (Rent() is (CountedArrayGuard, long) rent)
            {
                _held.Add(rent);
            }
        });
        return this;
    }

    /// <summary>As above, and returns it.</summary>
    public IdleArrayScenario RentsAndReturns()
    {
        Thread("rents and returns", () =>
        {
            if (Rent() is (CountedArrayGuard array, long generation))
            {
                End(array, generation);
            }
        });
        return this;
    }

    /// <summary>Adds a thread that returns the array, which it holds from the beginning.</summary>
    public IdleArrayScenario Returns()
    {
        Assert.NotEqual(-1, _generation);
        Thread("returns", () => End(_array, _generation), () => Interlocked.Increment(ref _users));
        return this;
    }

    /// <summary>Adds a thread that is admitted where there is room, and then needs an array.</summary>
    public IdleArrayScenario IsAdmitted()
    {
        Thread("is admitted", () =>
        {
            if (_budget.TryTake(Length, overtakes: false))
            {
                (CountedArrayGuard Array, long Generation)? rent = Fill();
                if (rent is null)
                {
                    // Another thread has the array in hand and may not keep it: the pipeline tries again.
                    _budget.Return(Length);
                }
                else
                {
                    Use();
                    _held.Add(rent.Value);
                }
            }
        });
        return this;
    }

    /// <summary>Adds a thread that asks the budget, and waits for it where it must.</summary>
    public IdleArrayScenario Waits()
    {
        BudgetRequest request = new(_budget, Length);
        _requests.Add(request);
        Thread("waits", () =>
        {
            if (_budget.TryTake(Length, overtakes: false))
            {
                _takenAtOnce.Add(request);
            }
            else
            {
                _budget.Post(request);
            }
        });
        return this;
    }

    public IdleArrayScenario Trims()
    {
        Thread("trims", () => _pool.Release(long.MaxValue));
        return this;
    }

    public IdleArrayScenario Closes()
    {
        _closes = true;
        Thread("closes", _pool.Close);
        return this;
    }

    public override void Check()
    {
        Assert.InRange(_budget.AdmittedBytes, 0, Length);
        Assert.InRange(_budget.CommittedBytes, 0, Length);
        Assert.False(
            _budget.AdmittedBytes == 0 && _requests.Exists(static request => request.IsWaiting && request.Node.List is not null),
            "A request waits beside idle memory.");
        _held.ForEach(rent => End(rent.Array, rent.Generation));

        foreach (BudgetRequest request in _requests)
        {
            Assert.True(request.IsGranted || _takenAtOnce.Contains(request), "A request waits for ever.");
            _budget.Return(Length);
        }

        Assert.Equal((0L, _pool.HeldBytes), (_budget.AdmittedBytes, _budget.CommittedBytes));
        Assert.Equal(_pool.HeldBytes, _pool.IdleBytes);
        Assert.InRange(_pool.HeldBytes, 0, _closes ? 0 : Length);
    }

    private (CountedArrayGuard Array, long Generation)? Rent()
    {
        if (_pool.TryRentIdle(Length) is not CountedArrayGuard array)
        {
            return null;
        }

        if (!array.TryCharge(_budget, Length))
        {
            _pool.Return(array, mayKeep: true);
            return null;
        }

        Use();
        return (array, array.BeginPlain(Length));
    }

    // As the pipeline does for a request that has been admitted.
    private (CountedArrayGuard Array, long Generation)? Fill()
    {
        Refusals refusals = default;
        CountedArrayGuard? array = _pool.TryRent(Length, ref refusals, out _);
        if (array is null)
        {
            return null;
        }

        array.NoteUse(Length);
        array.Prepare(clean: false);
        long generation = array.BeginAllocation();
        array.Charge(new BudgetPermit(_budget, Length));
        return (array, generation);
    }

    private void Use() => Assert.True(Interlocked.Increment(ref _users) == 1, "An array is in two hands.");

    private void End(CountedArrayGuard array, long generation)
    {
        Assert.Equal(0, Interlocked.Decrement(ref _users));
        array.Dispose(generation);
    }
}
