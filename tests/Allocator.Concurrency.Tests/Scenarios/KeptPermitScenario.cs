using Allocator.Budgeting;
using Allocator.Pooling;

namespace Allocator.Concurrency.Scenarios;

/// <summary>Blocks that keep their permits while they lie in the cache, and threads that rent them, or wait for the budget.</summary>
internal sealed class KeptPermitScenario : PoolScenario
{
    private readonly MemoryBudget _budget;
    private readonly List<BudgetRequest> _requests = [];
    private readonly List<BudgetRequest> _takenAtOnce = [];
    private readonly List<(BlockGuard Block, long Generation)> _held = [];
    private readonly ReservationAccount? _reservation;
    private readonly List<BudgetRequest> _mayBeRefused = [];
    private BudgetRequest? _waitsFirst;
    private bool _closes;
    private bool _isReturned = true;

    /// <summary>Makes a scenario of so many blocks, and a budget for as many and what is reserved.</summary>
    public KeptPermitScenario(int blocks, int reservedBlocks = 0)
        : this(blocks, reservedBlocks, new MemoryBudget((long)(blocks + reservedBlocks) * BlockSize, new StillClock()))
    {
    }

    private KeptPermitScenario(int blocks, int reservedBlocks, MemoryBudget budget)
        : base(blocks, budget: budget)
    {
        _budget = budget;
        _budget.Idle = Pool;
        if (reservedBlocks > 0)
        {
            Assert.True(_budget.TryTake((long)reservedBlocks * BlockSize, overtakes: false));
            _reservation = new ReservationAccount(_budget, (long)reservedBlocks * BlockSize);
        }
    }

    /// <summary>Adds a thread that returns a block of the budget.</summary>
    public KeptPermitScenario Returns()
    {
        (BlockGuard Block, long Generation)? rent = null;
        Thread(
            "returns",
            () =>
            {
                End(rent!.Value.Block, rent.Value.Generation);
                _isReturned = true;
            },
            () =>
            {
                rent = Rent(_budget);
                if (_waitsFirst is not null)
                {
                    _budget.Post(_waitsFirst);
                }
            });
        _isReturned = false;
        return this;
    }

    /// <summary>Adds a thread that returns a block of the budget, and at once rents one from the cache, which it keeps.</summary>
    public KeptPermitScenario ReturnsAndRents()
    {
        (BlockGuard Block, long Generation)? rent = null;
        Thread(
            "returns and rents",
            () =>
            {
                End(rent!.Value.Block, rent.Value.Generation);
                _isReturned = true;
                RentCached(_budget);
            },
            () => rent = Rent(_budget));
        _isReturned = false;
        return this;
    }

    /// <summary>Has a block in the cache from the start, with its permit.</summary>
    public KeptPermitScenario Keeps()
    {
        (BlockGuard block, long generation) = Rent(_budget)!.Value;
        End(block, generation);
        return this;
    }

    /// <summary>Has a request wait from the start, for as much as the budget has beside what is reserved.</summary>
    public KeptPermitScenario HasWaiter()
    {
        BudgetRequest request = new(_budget, BlockSize);
        _requests.Add(request);
        _waitsFirst = request;
        return this;
    }

    /// <summary>Adds a thread that rents a block from the cache, where its owner has returned it, for the reservation.</summary>
    public KeptPermitScenario RentsReserved()
    {
        Thread("rents of the reservation", () => RentCached(_reservation!));
        return this;
    }

    /// <summary>Adds a thread that asks the budget for a block, and waits for it where it must.</summary>
    public KeptPermitScenario Waits() => Posts("waits", _budget, mayWait: true);

    /// <summary>
    /// Adds a thread that asks the budget for a block, and does not wait. It may be refused where a return has not ended before it begins.
    /// </summary>
    public KeptPermitScenario Asks() => Posts("asks", _budget, mayWait: false);

    /// <summary>Adds a thread that has the reservation grow by a block, and waits for it where it must.</summary>
    public KeptPermitScenario Grows() => Posts("grows", _reservation!.AsGrowth(), mayWait: true);

    /// <summary>Adds a thread that has idle blocks return their permits.</summary>
    public KeptPermitScenario Drains()
    {
        Thread("drains", Pool.ReleasePermits);
        return this;
    }

    /// <summary>Adds a thread that closes the pool.</summary>
    public KeptPermitScenario Closes()
    {
        _closes = true;
        Thread("closes", Pool.Close);
        return this;
    }

    public override void Check()
    {
        Assert.InRange(_budget.AdmittedBytes, 0, _budget.LimitInBytes);
        bool isIdle = _budget.AdmittedBytes - Pool.ReadUsage().AdmittedIdleBytes + BlockSize <= _budget.LimitInBytes;
        Assert.False(
            isIdle && _requests.Exists(request => IsLeft(request) && !_mayBeRefused.Contains(request)),
            "A request waits, or was refused, beside idle memory.");
        _held.ForEach(rent => End(rent.Block, rent.Generation));
        while (_requests.Find(request => !IsLeft(request)) is BudgetRequest served)
        {
            _requests.Remove(served);
            served.Account.Return(served.Bytes);
        }

        Assert.False(_requests.Exists(static request => request.IsWaiting), "A request waits for ever.");
        _reservation?.Close();
        if (_closes)
        {
            ExpectNothingLeft();
        }
        else
        {
            ExpectAllIdle();
        }

        Assert.Equal(0, _budget.AdmittedBytes);
    }

    private bool IsLeft(BudgetRequest request) => !request.IsGranted && !_takenAtOnce.Contains(request);

    private KeptPermitScenario Posts(string name, BudgetAccount account, bool mayWait)
    {
        BudgetRequest request = new(account, BlockSize);
        _requests.Add(request);
        Thread(name, () =>
        {
            if (!mayWait && !_isReturned)
            {
                _mayBeRefused.Add(request);
            }

            if (account.TryTake(BlockSize, overtakes: false))
            {
                _takenAtOnce.Add(request);
            }
            else
            {
                _budget.Post(request, mayWait);
            }
        });
        return this;
    }

    private (BlockGuard Block, long Generation)? Rent(BudgetAccount account)
    {
        BlockGuard block = TryRent()!;
        Assert.True(block.TryCharge(account, BlockSize));
        return (block, Begin(block));
    }

    // As the allocator's fast path does.
    private void RentCached(BudgetAccount account)
    {
        if (Pool.TryRentCached() is not BlockGuard block)
        {
            return;
        }

        if (block.TryCharge(account, BlockSize))
        {
            _held.Add((block, Begin(block)));
        }
        else
        {
            Pool.Return(block, ofGroup: true);
        }
    }
}
