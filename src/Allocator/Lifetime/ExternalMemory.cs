using System;
using System.Threading;
using Allocator.Budgeting;

namespace Allocator.Lifetime;

/// <summary>Memory that others have allocated, as far as the budget is concerned: counted until this is disposed.</summary>
internal sealed class ExternalMemory : IDisposable
{
    private readonly MemoryCeiling _ceiling;
    private readonly BudgetPermit _permit;
    private readonly long _bytes;
    private readonly long _announcement;
    private int _isOver;

    private ExternalMemory(MemoryCeiling ceiling, in BudgetPermit permit, long bytes, long announcement)
    {
        _ceiling = ceiling;
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

    /// <summary>Counts bytes that others are about to allocate.</summary>
    /// <param name="ceiling">What they count below.</param>
    /// <param name="permit">What was taken from the budget for them, which has none of them where there is no budget.</param>
    /// <param name="bytes">How many there are.</param>
    /// <returns>What ends that; null where there is no room below the ceiling.</returns>
    public static ExternalMemory? TryCount(MemoryCeiling ceiling, in BudgetPermit permit, long bytes)
    {
        if (!ceiling.TryHoldAnnounced(bytes, out long announcement))
        {
            return null;
        }

        try
        {
            return new ExternalMemory(ceiling, permit, bytes, announcement);
        }
        catch
        {
            ceiling.ReleaseAnnounced(bytes, announcement);
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

        _ceiling.ReleaseAnnounced(_bytes, _announcement);
        return true;
    }
}
