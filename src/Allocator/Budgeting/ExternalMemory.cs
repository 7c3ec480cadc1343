namespace Allocator.Budgeting;

/// <summary>Memory that other code has allocated. The budget counts it until this is disposed.</summary>
internal sealed class ExternalMemory(MemoryBudget budget) : IDisposable
{
    private long _bytes;
    private (long Bytes, long Period) _announcement;
    private int _isOver;

    // If it were dropped, its bytes would count for ever.
    ~ExternalMemory() => End(byFinalizer: true);

    /// <summary>Gets or sets the permit that goes back at the end.</summary>
    public BudgetPermit Permit { get; set; }

    /// <summary>Counts bytes that other code is about to allocate. False if there is no room. Succeeds at most once.</summary>
    public bool TryCount(long bytes, ref Refusals refusals)
    {
        if (budget.IsCounted && !budget.TryCount(bytes))
        {
            return refusals.Refuse(bytes, byContainer: false);
        }

        // If requests have to be admitted, the job was admitted together with this memory.
        bool honorsLimit = budget.HonorsLimit && !budget.IsCounted;
        if (bytes != 0 && budget.Headroom?.TryAnnounce(bytes, honorsLimit, out _announcement) == false)
        {
            budget.Uncount(budget.IsCounted ? bytes : 0);
            return refusals.Refuse(bytes, byContainer: true);
        }

        // Where only reservations are counted, the announcement is enough.
        _bytes = budget.IsCounted ? bytes : 0;
        return true;
    }

    public void Dispose()
    {
        GC.SuppressFinalize(this);
        End(byFinalizer: false);
    }

    private void End(bool byFinalizer)
    {
        if (Interlocked.Exchange(ref _isOver, 1) != 0)
        {
            return;
        }

        budget.Headroom?.Withdraw(_announcement);
        budget.Headroom?.NoteFreed();
        budget.Uncount(_bytes);
        Permit.Return(byFinalizer);
    }
}
