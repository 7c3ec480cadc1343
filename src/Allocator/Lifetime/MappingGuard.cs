using System;
using Allocator.Native;

namespace Allocator.Lifetime;

/// <summary>Guards memory that came from the system for this one rent, and goes back to it right after.</summary>
internal sealed class MappingGuard : NativeGuard
{
    private readonly NativeMemorySource _source;
    private readonly long _lengthInBytes;

    private MappingGuard(NativeMemorySource source, long lengthInBytes, LifetimePolicy policy)
        : base(new GuardRecord[1], 0, policy)
    {
        _source = source;
        _lengthInBytes = lengthInBytes;
        Record.RunLength = 1;
    }

    public override long CapacityInBytes => _lengthInBytes;

    protected override bool ReturnsWithoutSystemCall => false;

    /// <summary>Takes memory from the system, and a guard for it.</summary>
    /// <returns>The guard, its rent not begun; null where the system refuses.</returns>
    public static MappingGuard? TryAllocate(NativeMemorySource source, long lengthInBytes, int alignmentInBytes, LifetimePolicy policy)
    {
        if (!NativeMemorySource.IsAddressable(lengthInBytes, IntPtr.Size))
        {
            return null;
        }

        // The object first: once there is memory, nothing can fail that would lose it.
        MappingGuard guard = new(source, source.RoundUp(lengthInBytes), policy);
        bool isHeld = policy.Ceiling.TryHold(guard._lengthInBytes);
        bool zeroed = false;
        if (isHeld)
        {
            guard.Address = source.TryAllocate(guard._lengthInBytes, Math.Max(alignmentInBytes, NativeMemorySource.MinimumAlignment), out zeroed);
        }

        if (guard.Address == 0)
        {
            policy.Ceiling.Release(isHeld ? guard._lengthInBytes : 0);
            GC.SuppressFinalize(guard);
            return null;
        }

        guard.Record.Zeroed = zeroed;
        policy.Counters.AddCommitted(guard._lengthInBytes);
        return guard;
    }

    protected override void ReturnMemory(bool ofGroup)
    {
        // Nothing is left to be found: the guard ends with its memory.
        GC.SuppressFinalize(this);
        _source.Free(Address, _lengthInBytes);
        Policy.NoteFreed(_lengthInBytes);
    }

    protected override void ClearUsed(bool evenIfZeroed)
    {
        if (evenIfZeroed || !Record.Zeroed)
        {
            NativeBytes.Clear(Address, Record.UsedBytes);
        }
    }

    // A mapping goes back to the system, which zeroes it for whoever is next: clearing it here would only make untouched pages resident. A heap hands it on as it is.
    protected override void CleanUp()
    {
        if (Policy.ClearOnReturn && _source is not VirtualMemorySource)
        {
            ClearUsed(evenIfZeroed: true);
        }
    }

    protected override void OnRented(bool isAllocation)
    {
        Policy.Counters.MappingRented(_lengthInBytes, isAllocation);
    }

    protected override void OnReturned(bool isAllocation) => Policy.Counters.MappingReturned(_lengthInBytes, isAllocation);

    protected override void OnAbandoned(bool isAllocation) => Policy.Counters.MappingQuarantined(_lengthInBytes, isAllocation);

    protected override void OnRecycled() => Policy.Counters.MappingLeftQuarantine(_lengthInBytes);
}
