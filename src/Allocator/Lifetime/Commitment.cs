using Allocator.Budgeting;
using Allocator.Diagnostics;

namespace Allocator.Lifetime;

/// <summary>
/// Memory about to come from the system or the collector. It is taken from the budget first and then committed as far as possible; the
/// rest is cancelled. The container must grant it before it is written to. <see cref="EndRelease"/> ends committed memory.
/// </summary>
internal struct Commitment
{
    private readonly AllocatorContext _context;
    private long _bytes;

    private Commitment(AllocatorContext context, long bytes, bool isGranted)
    {
        _context = context;
        _bytes = bytes;
        IsGranted = isGranted;
    }

    /// <summary>Gets whether the container has granted the bytes. If not, it must do so before a rent.</summary>
    public bool IsGranted { get; }

    /// <summary>Takes bytes from the budget, and from the container if asked to. If one refuses: false, with nothing taken.</summary>
    public static bool TryTake(
        AllocatorContext context, long bytes, bool grantsNow, ref Refusals refusals, out Commitment commitment)
    {
        Debug.Assert(bytes >= 0);
        commitment = new Commitment(context, bytes, grantsNow);
        if (!context.Budget.TryCount(bytes))
        {
            return refusals.Refuse(bytes, byContainer: false);
        }

        if (grantsNow && !TryGrant(context, bytes, ref refusals))
        {
            context.Budget.Uncount(bytes);
            return false;
        }

        return true;
    }

    /// <summary>Returns whether the container has room for a whole request: requests must not wait for each other's parts.</summary>
    public static bool CanTake(AllocatorContext context, long bytes, ref Refusals refusals)
    {
        bool isLater = context.Populates;
        bool isGranted = !isLater && TryGrant(context, bytes, ref refusals);
        CancelGrant(context, isGranted ? bytes : 0);
        return isGranted || isLater;
    }

    /// <summary>
    /// Asks the container to grant bytes that may be written to from now on: all of a request at once. The caller then calls
    /// <see cref="NoteGranted"/> or <see cref="CancelGrant"/>.
    /// </summary>
    public static bool TryGrant(AllocatorContext context, long bytes, ref Refusals refusals)
    {
        // MinimumFreeBytes may refuse the first attempt only. Idle memory is then released for it, as far as there is any.
        MemoryBudget budget = context.Budget;
        long minimumFree = refusals.ByContainer == 0 ? budget.MinimumFreeBytes : 0;
        return budget.Headroom?.TryGrant(bytes, minimumFree, budget.HonorsLimit, isAdmitted: budget.IsCounted) != false
            || refusals.Refuse(bytes, byContainer: true);
    }

    /// <summary>
    /// Makes the bytes that a renter can reach resident, in a whole chain of guards, after the container has granted them in one step.
    /// False if the container or the system refuses. The kernel's figures then contain them, and no later write ends the process.
    /// </summary>
    public static bool TryPopulate(FinalizableGuard first, ref Refusals refusals)
    {
        long missing = UngrantedBytes(first);
        if (missing == 0)
        {
            return true;
        }

        if (!TryGrant(first.Context, missing, ref refusals))
        {
            return false;
        }

        try
        {
            FinalizableGuard? part = first;
            while (part?.TryPopulate() == true)
            {
                part = part.Next;
            }

            return part is null;
        }
        finally
        {
            CancelGrant(first.Context, UngrantedBytes(first));
        }

        static long UngrantedBytes(FinalizableGuard first)
        {
            long bytes = 0;
            for (FinalizableGuard? part = first; part is not null; part = part.Next)
            {
                bytes += part.UngrantedBytes();
            }

            return bytes;
        }
    }

    /// <summary>Notes that granted memory is resident, or will be at once.</summary>
    public static void NoteGranted(AllocatorContext context, long bytes) =>
        context.Budget.Headroom?.EndGrant(bytes, committedBytes: bytes);

    /// <summary>Returns granted bytes that will not be used.</summary>
    public static void CancelGrant(AllocatorContext context, long bytes) =>
        context.Budget.Headroom?.EndGrant(bytes, committedBytes: 0);

    /// <summary>Counts released bytes as no longer committed, and their granted part as no longer granted.</summary>
    public static void EndRelease(AllocatorContext context, long bytes, long grantedBytes)
    {
        if (bytes > 0)
        {
            // Listeners are called only once there is room again: they may allocate.
            long left = context.Counters.RemoveCommitted(bytes);
            EndReleaseOfArray(context, bytes, grantedBytes);
            AllocatorEventSource.Log.MemoryDecommitted(bytes, left, context.Counters.AllocatorName);
        }
    }

    /// <summary>As <see cref="EndRelease"/>, for an array that was left to the collector.</summary>
    public static void EndReleaseOfArray(AllocatorContext context, long bytes, long grantedBytes)
    {
        context.Budget.Headroom?.Release(grantedBytes);
        context.Budget.Uncount(bytes);
    }

    /// <summary>Notes memory that the system has supplied: all of it, or a part.</summary>
    public void Commit(long bytes)
    {
        Debug.Assert(bytes <= _bytes);
        _context.Counters.AddCommitted(bytes);
        CommitArray(bytes);
    }

    /// <summary>As <see cref="Commit"/>, for an array from the collector, which the statistics count elsewhere.</summary>
    public void CommitArray(long bytes)
    {
        _bytes -= bytes;
        NoteGranted(_context, IsGranted ? bytes : 0);
    }

    /// <summary>Returns the bytes that were not committed.</summary>
    public void Cancel()
    {
        CancelGrant(_context, IsGranted ? _bytes : 0);
        EndReleaseOfArray(_context, _bytes, grantedBytes: 0);
        _bytes = 0;
    }
}
