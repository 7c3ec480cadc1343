using Allocator.Budgeting;
using Allocator.Diagnostics;

namespace Allocator.Lifetime;

/// <summary>
/// Memory that is about to come from the system or the collector: taken from the budget and the container before, then committed as far
/// as there is any, the rest cancelled. Committed memory ends with <see cref="BeginRelease"/> and <see cref="EndRelease"/>.
/// </summary>
internal struct Commitment
{
    private readonly AllocatorContext _context;
    private long _bytes;

    private Commitment(AllocatorContext context, long bytes)
    {
        _context = context;
        _bytes = bytes;
    }

    /// <summary>Takes bytes from the budget and the container; false, and nothing has changed, if either has no room.</summary>
    public static bool TryTake(AllocatorContext context, long bytes, ref Refusals refusals, out Commitment commitment)
    {
        Debug.Assert(bytes >= 0);
        MemoryBudget budget = context.Budget;
        commitment = new Commitment(context, bytes);
        if (!budget.TryCount(bytes))
        {
            return refusals.Refuse(bytes, byContainer: false);
        }

        if (!IsGranted(budget, bytes, refusals))
        {
            budget.Uncount(bytes);
            return refusals.Refuse(bytes, byContainer: true);
        }

        return true;
    }

    /// <summary>Returns whether the container has room for a whole request: requests must not wait for each other's parts.</summary>
    public static bool CanTake(AllocatorContext context, long bytes, ref Refusals refusals)
    {
        if (!IsGranted(context.Budget, bytes, refusals))
        {
            return refusals.Refuse(bytes, byContainer: true);
        }

        context.Budget.Headroom?.Cancel(bytes);
        return true;
    }

    /// <summary>Notes memory that is about to go back to the system.</summary>
    public static void BeginRelease(AllocatorContext context, nint address)
    {
        Debug.Assert(address != 0, "Arrays go back to the collector.");
        context.Budget.Headroom?.Forget(address);
    }

    /// <summary>Counts bytes that have gone as no longer committed.</summary>
    public static void EndRelease(AllocatorContext context, long bytes)
    {
        if (bytes > 0)
        {
            // No listener is called before there is room again: it may allocate.
            long left = context.Counters.RemoveCommitted(bytes);
            EndReleaseOfArray(context, bytes);
            AllocatorEventSource.Log.MemoryDecommitted(bytes, left, context.AllocatorName);
        }
    }

    /// <summary>As <see cref="EndRelease"/>, for an array that was left to the collector.</summary>
    public static void EndReleaseOfArray(AllocatorContext context, long bytes)
    {
        context.Budget.Headroom?.NoteFreed();
        context.Budget.Uncount(bytes);
    }

    /// <summary>Notes memory that the system has given: all of it, or a part.</summary>
    public void Commit(nint address, long bytes)
    {
        Debug.Assert(address != 0 && bytes <= _bytes);
        _bytes -= bytes;
        _context.Budget.Headroom?.Commit(address, bytes);
        _context.Counters.AddCommitted(bytes);
    }

    /// <summary>Notes an array that the collector has given, which the statistics count elsewhere.</summary>
    public void CommitArray()
    {
        _context.Budget.Headroom?.Commit(0, _bytes);
        _bytes = 0;
    }

    /// <summary>Returns what was not committed.</summary>
    public void Cancel()
    {
        _context.Budget.Headroom?.Cancel(_bytes);
        EndReleaseOfArray(_context, _bytes);
        _bytes = 0;
    }

    // MinimumFreeBytes may refuse the first attempt only: then idle memory is released for it, as far as there is any.
    private static bool IsGranted(MemoryBudget budget, long bytes, in Refusals refusals) => budget.Headroom?.TryGrant(
        bytes, refusals.ByContainer == 0 ? budget.MinimumFreeBytes : 0, budget.HonorsLimit, isAdmitted: budget.IsCounted) != false;
}
