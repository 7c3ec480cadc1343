using System;
using System.Threading;
using Allocator.Budgeting;

namespace Allocator.Lifetime;

/// <summary>Memory that others have allocated, as far as the budget is concerned: counted until this is disposed.</summary>
internal sealed class ExternalMemory : IDisposable
{
    private readonly MemoryCeiling _ceiling;
    private readonly BudgetPermit _permit;
    private readonly long _announcement;
    private int _isOver;

    /// <summary>Makes it. pre: the bytes of the permit are held below the ceiling.</summary>
    public ExternalMemory(MemoryCeiling ceiling, in BudgetPermit permit, long announcement)
    {
        _ceiling = ceiling;
        _permit = permit;
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

        _ceiling.ReleaseAnnounced(_permit.Bytes, _announcement);
        return true;
    }
}
