using System;
using System.Collections.Generic;
using System.Linq;
using Allocator.Budgeting;
using Allocator.Pooling;
using Xunit;

namespace Allocator.Concurrency.Scenarios;

/// <summary>Blocks that stay admitted while they lie in the cache, and threads that rent them, or wait for the budget.</summary>
internal sealed class AdmittedScenario : PoolScenario
{
    private readonly MemoryBudget _budget;
    private readonly List<BudgetRequest> _requests = [];
    private readonly List<BudgetRequest> _takenAtOnce = [];
    private readonly List<(BlockGuard Block, long Generation)> _held = [];

    /// <summary>Makes a scenario of so many blocks and a budget for as many.</summary>
    public AdmittedScenario(int blocks)
        : this(blocks, new MemoryBudget((long)blocks * BlockSize, new StillClock()))
    {
    }

    private AdmittedScenario(int blocks, MemoryBudget budget)
        : base(blocks, budget: budget)
    {
        _budget = budget;
        _budget.Idle = Pool;
    }

    /// <summary>Adds a thread that returns a block that is admitted.</summary>
    public AdmittedScenario Returns()
    {
        (BlockGuard Block, long Generation)? rent = null;
        Thread("returns", () => End(rent!.Value.Block, rent.Value.Generation), () => rent = Rent());
        return this;
    }

    /// <summary>Adds a thread that returns a block that is admitted, and at once rents one from the cache, which it keeps.</summary>
    public AdmittedScenario ReturnsAndRents()
    {
        (BlockGuard Block, long Generation)? rent = null;
        Thread(
            "returns and rents",
            () =>
            {
                End(rent!.Value.Block, rent.Value.Generation);
                Hold(RentCached());
            },
            () => rent = Rent());
        return this;
    }

    /// <summary>Adds a thread that asks the budget for a block, and waits for it where it must.</summary>
    public AdmittedScenario Waits()
    {
        BudgetRequest request = new(_budget, BlockSize);
        _requests.Add(request);
        Thread("waits", () =>
        {
            if (_budget.TryTake(BlockSize, overtakes: false))
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

    /// <summary>Adds a thread that has idle blocks put into the map.</summary>
    public AdmittedScenario Drains()
    {
        Thread("drains", () => Pool.DrainCache());
        return this;
    }

    public override void Check()
    {
        Assert.InRange(_budget.AdmittedBytes, 0, _budget.LimitInBytes);
        bool isIdle = _budget.AdmittedBytes + BlockSize <= _budget.LimitInBytes;
        bool waits = _requests.Any(request => request.IsWaiting && !_takenAtOnce.Contains(request));
        Assert.False(isIdle && waits, "A request waits beside idle memory.");
        _held.ForEach(rent => End(rent.Block, rent.Generation));
        Assert.True(_requests.TrueForAll(request => request.IsGranted || _takenAtOnce.Contains(request)), "A request waits for ever.");
        _requests.ForEach(request => _budget.Return(request.Bytes));
        Assert.Equal(0, _budget.AdmittedBytes);
        ExpectAllIdle();
    }

    private (BlockGuard Block, long Generation)? Rent()
    {
        BlockGuard block = TryRent()!;
        Assert.True(block.TryCharge(_budget, BlockSize));
        return (block, Begin(block));
    }

    private (BlockGuard Block, long Generation)? RentCached()
    {
        if (Pool.TryRentCached() is not BlockGuard block)
        {
            return null;
        }

        if (block.TryCharge(_budget, BlockSize))
        {
            return (block, Begin(block));
        }

        Pool.Return(block, ofGroup: true);
        return null;
    }

    private void Hold((BlockGuard Block, long Generation)? rent)
    {
        if (rent is { } held)
        {
            _held.Add(held);
        }
    }
}
