using System;

namespace Allocator.Lifetime;

/// <summary>
/// Guards an array of <see cref="System.Buffers.ArrayPool{T}.Shared"/> where it has to be known when one is dropped: it counts against a budget until then.
/// </summary>
internal sealed class CountedArrayGuard : NativeGuard
{
    private readonly CountedArrayRenter _renter;

    public CountedArrayGuard(CountedArrayRenter renter, LifetimePolicy policy)
        : base(new GuardRecord[1], 0, policy)
    {
        _renter = renter;
        Record.RunLength = 1;
    }

    public override long CapacityInBytes => Array!.Length;

    protected override bool ReturnsWithoutSystemCall => true;

    // A span keeps its array alive, and a dropped array goes to the garbage collector, not to the next renter.
    protected override bool NeedsQuarantine => false;

    /// <summary>Notes the array. pre: held exclusively, not begun.</summary>
    public void Place(byte[] array) => Array = array;

    protected override void ReturnMemory(bool ofGroup)
    {
        byte[]? array = Array;
        Array = null;
        _renter.TakeBack(this, array);
    }

    protected override void ClearUsed(bool evenIfZeroed) => Array.AsSpan(0, (int)Record.UsedBytes).Clear();

    // The array pool clears what it gets back, where that is asked for.
    protected override void CleanUp()
    {
    }

    protected override void OnRented(bool isAllocation) => Policy.Counters.MappingRented(CapacityInBytes, isAllocation);

    protected override void OnReturned(bool isAllocation) => Policy.Counters.MappingReturned(CapacityInBytes, isAllocation);

    protected override void OnAbandoned(bool isAllocation) => Policy.Counters.MappingReturned(CapacityInBytes, isAllocation);

    protected override void OnRecycled()
    {
        Policy.Ceiling.Release(CapacityInBytes);
        Array = null;
    }
}
