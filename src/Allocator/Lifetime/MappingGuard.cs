using Allocator.Budgeting;
using Allocator.Native;

namespace Allocator.Lifetime;

/// <summary>
/// Guards memory that the system supplied for one rent and that is released right after it. A guard for heap memory, which may be small,
/// serves further rents, because a finalizable object costs more than such memory.
/// </summary>
internal sealed class MappingGuard(NativeMemorySource source, AllocatorContext context) : FinalizableGuard(context)
{
    private const long PopulatedAtOnce = 4 * 1024 * 1024;

    private NativeMemorySource _source = source;
    private long _lengthInBytes;
    private long _capacityInBytes;
    private long _grantedBytes;

    public override long CapacityInBytes => _capacityInBytes;

    public override long UngrantedBytes() => _capacityInBytes - _grantedBytes;

    public override bool TryPopulate()
    {
        // Piece by piece, because what the figures already contain must no longer count as in flight.
        for (long length; UngrantedBytes() != 0; _grantedBytes += length)
        {
            length = Math.Min(PopulatedAtOnce, _lengthInBytes - _grantedBytes);
            if (!_source.TryPopulate(Address + (nint)_grantedBytes, length))
            {
                return false;
            }

            length = _grantedBytes + length == _lengthInBytes ? UngrantedBytes() : length;
            Commitment.NoteGranted(Context, length);
        }

        return true;
    }

    /// <summary>Takes memory from the system, and a guard for it. Null if the system refuses, or no more may be held.</summary>
    public static MappingGuard? TryAllocate(
        NativeMemorySource source, long lengthInBytes, int alignmentInBytes, AllocatorContext context, ref Refusals refusals)
    {
        Debug.Assert(NativeMemorySource.IsAddressable(lengthInBytes), "No allocation may be larger.");

        // The object first: once there is memory, no step may fail, or the memory would be lost.
        int alignment = Math.Max(alignmentInBytes, NativeMemorySource.MinimumAlignment);
        long length = source.RoundUp(lengthInBytes);
        MappingGuard guard = TryTakeIdle(source, context) ?? new MappingGuard(source, context);
        guard._source = source;
        guard._lengthInBytes = length;
        guard._capacityInBytes = source.CapacityOf(length, alignment);
        if (!guard.TryMap(alignment, ref refusals))
        {
            GC.SuppressFinalize(guard);
            return null;
        }

        return guard;
    }

    // The system zeroes a mapping for the next process, so clearing it here would only make untouched pages resident. A heap reuses it as
    // it is.
    protected override bool IsClearedOnReturn => Context.ClearOnReturn && _source is not VirtualMemorySource;

    protected override void Return(bool bypassesCache)
    {
        Debug.Assert(Address != 0 && RentState.IsIdle(Record.State), "The memory is mapped, and no rent has it.");
        long bytes = CapacityInBytes;
        long granted = _grantedBytes;
        _grantedBytes = 0;
        _source.Free(Address, _lengthInBytes);
        if (!bypassesCache && _source is HeapMemorySource && Context.IdleGuard is null)
        {
            // If two threads do this at once, one guard is collected.
            Volatile.Write(ref Context.IdleGuard, this);
        }
        else
        {
            // The guard ends with its memory: there is nothing for a finalizer to find.
            GC.SuppressFinalize(this);
        }

        Commitment.EndRelease(Context, bytes, granted);
    }

    // Skips a guard that a collection found unreachable, together with its allocator: its finalizer is still to run.
    private static MappingGuard? TryTakeIdle(NativeMemorySource source, AllocatorContext context) =>
        source is HeapMemorySource && Interlocked.Exchange(ref context.IdleGuard, null) is { IsFoundUnreachable: false } guard
            ? guard
            : null;

    private bool TryMap(int alignmentInBytes, ref Refusals refusals)
    {
        if (!Commitment.TryTake(Context, CapacityInBytes, !Context.Populates, ref refusals, out Commitment commitment))
        {
            return false;
        }

        Address = _source.TryAllocate(_lengthInBytes, alignmentInBytes, out bool zeroed);
        if (Address == 0)
        {
            commitment.Cancel();
            return false;
        }

        Record.Zeroed = zeroed;
        _grantedBytes = commitment.IsGranted ? CapacityInBytes : 0;
        commitment.Commit(CapacityInBytes);
        return true;
    }
}
