using System;
using System.Threading;
using Allocator.Budgeting;

namespace Allocator.Lifetime;

/// <summary>Memory that others have allocated, as far as the budget is concerned: counted until this is disposed.</summary>
internal sealed class ExternalMemory : IDisposable
{
    private readonly MemoryBudget _budget;
    private readonly BudgetPermit _permit;
    private readonly long _bytes;
    private readonly long _announcement;
    private int _isOver;

    /// <summary>Makes it. The bytes count as committed, and the permit is for as many where there is a budget.</summary>
    public ExternalMemory(MemoryBudget budget, in BudgetPermit permit, long bytes, long announcement)
    {
        _budget = budget;
        _permit = permit;
        _bytes = bytes;
        _announcement = announcement;
    }

    // One that is dropped would be counted for ever.
    ~ExternalMemory()
    {
        if (TryEnd())
        {
            _permit.Account?.ReturnLater(_permit.Bytes);
        }
    }

    public void Dispose()
    {
        GC.SuppressFinalize(this);
        if (TryEnd())
        {
            _permit.Return();
        }
    }

    private bool TryEnd()
    {
        if (Interlocked.Exchange(ref _isOver, 1) != 0)
        {
            return false;
        }

        _budget.ReleaseExternal(_bytes, _announcement);
        return true;
    }
}
