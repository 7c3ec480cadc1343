namespace Allocator.Diagnostics;

/// <summary>What became of a watched buffer.</summary>
public enum AllocationRecordState
{
    /// <summary>It is outstanding.</summary>
    Rented = 1,

    /// <summary>It was returned, and its addresses are kept inaccessible.</summary>
    Returned = 2,

    /// <summary>Its owner was collected without <c>Dispose</c>; the memory is in quarantine.</summary>
    Abandoned = 3,

    /// <summary>Its addresses have been returned to the system, and other memory may lie there by now.</summary>
    Freed = 4,
}
