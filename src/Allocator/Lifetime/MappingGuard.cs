using System;
using Allocator.Budgeting;
using Allocator.Native;

namespace Allocator.Lifetime;

/// <summary>Guards memory that came from the system for this one rent, and goes back to it right after.</summary>
internal sealed class MappingGuard : FinalizableGuard
{
    private readonly NativeMemorySource _source;
    private readonly long _lengthInBytes;

    private MappingGuard(NativeMemorySource source, long lengthInBytes, long capacityInBytes, AllocatorContext context)
        : base(context)
    {
        _source = source;
        _lengthInBytes = lengthInBytes;
        CapacityInBytes = capacityInBytes;
    }

    public override long CapacityInBytes { get; }

    /// <summary>Takes memory from the system, and a guard for it; null where the system refuses, or as much is held as may be.</summary>
    public static MappingGuard? TryAllocate(
        NativeMemorySource source, long lengthInBytes, int alignmentInBytes, AllocatorContext context, ref Refusals refusals)
    {
        if (!NativeMemorySource.IsAddressable(lengthInBytes))
        {
            return null;
        }

        // The object first: once there is memory, nothing can fail that would lose it.
        int alignment = Math.Max(alignmentInBytes, NativeMemorySource.MinimumAlignment);
        long length = source.RoundUp(lengthInBytes);
        MappingGuard guard = new(source, length, source.CapacityOf(length, alignment), context);
        if (!guard.TryMap(alignment, ref refusals))
        {
            GC.SuppressFinalize(guard);
            return null;
        }

        return guard;
    }

    protected override void ReturnMemory(bool ofGroup)
    {
        // Nothing is left to be found: the guard ends with its memory.
        GC.SuppressFinalize(this);
        Context.Budget.NoteReleasing(Address);
        _source.Free(Address, _lengthInBytes);
        Context.NoteFreed(CapacityInBytes);
    }

    // A mapping goes back to the system, which zeroes it for the next process: clearing it here would only make untouched pages resident.
    // A heap hands it on as it is.
    protected override void CleanUp()
    {
        if (Context.ClearOnReturn && _source is not VirtualMemorySource)
        {
            ClearUsed(evenIfZeroed: true);
        }
    }

    private bool TryMap(int alignmentInBytes, ref Refusals refusals)
    {
        if (!Context.Budget.TryCommit(CapacityInBytes, ref refusals))
        {
            return false;
        }

        Address = _source.TryAllocate(_lengthInBytes, alignmentInBytes, out bool zeroed);
        if (Address == 0)
        {
            Context.Budget.CancelCommit(CapacityInBytes);
            return false;
        }

        Context.Budget.NoteCommitted(Address, CapacityInBytes);
        Record.Zeroed = zeroed;
        Context.Counters.AddCommitted(CapacityInBytes);
        return true;
    }
}
