namespace Allocator;

/// <summary>Says what becomes of memory whose owner was collected without <c>Dispose</c>.</summary>
public enum AbandonedMemory
{
    /// <summary>
    /// It is kept apart for at least one further Gen2 collection and one trim period, because a live span may still point into it. The
    /// default.
    /// </summary>
    Quarantine,

    /// <summary>
    /// It is handed to the next renter at once. A span that outlived its owner then reads and writes another renter's memory.
    /// </summary>
    Reuse,
}
