namespace Allocator;

/// <summary>Says what becomes of memory whose owner was collected without <c>Dispose</c>.</summary>
public enum AbandonedMemory
{
    /// <summary>
    /// The default: kept apart for one more Gen2 collection and trim period at least, because a live span may point into it.
    /// </summary>
    Quarantine,

    /// <summary>
    /// The next request may be served with it at once. A span that outlived its owner then reads and writes another renter's memory.
    /// </summary>
    Reuse,
}
