using System;
using System.Threading;

namespace Allocator.Budgeting;

/// <summary>Memory that others have allocated, as far as the budget is concerned: counted until this is disposed.</summary>
internal sealed class ExternalMemory : IDisposable
{
    private readonly MemoryBudget _budget;
    private readonly BudgetPermit _permit;
    private readonly long _bytes;
    private readonly long _announcement;
    private int _isOver;

    private ExternalMemory(MemoryBudget budget, in BudgetPermit permit, long bytes, long announcement)
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

    /// <summary>Counts bytes that others are about to allocate, and returns what ends that; null where there is no room.</summary>
    public static ExternalMemory? TryCount(MemoryBudget budget, in BudgetPermit permit, long bytes, ref Refusals refusals)
    {
        if (!budget.TryCommitExternal(bytes, ref refusals, out long announcement))
        {
            return null;
        }

        try
        {
            return new ExternalMemory(budget, permit, bytes, announcement);
        }
        catch
        {
            budget.ReleaseExternal(bytes, announcement);
            throw;
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
