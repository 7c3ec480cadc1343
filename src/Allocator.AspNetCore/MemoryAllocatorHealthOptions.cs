namespace Allocator.AspNetCore;

/// <summary>The thresholds from which the health check of an allocator reports degraded.</summary>
public sealed class MemoryAllocatorHealthOptions
{
    /// <summary>
    /// Gets or sets the part of the memory of the container, or of the machine, whose use is a high load: from 0 to 1.
    /// <see langword="null"/>: as for the allocator's trimming, 0.9, or 0.75 while threads wait for memory.
    /// </summary>
    public double? DegradedMemoryLoad { get; set; }

    /// <summary>
    /// Gets or sets the part of the memory budget, reservations included, whose use is a high load: from 0 to 1. <see langword="null"/>:
    /// none, however full it is. The default is 0.95.
    /// </summary>
    /// <remarks>A full budget is no fault, but requests begin to wait.</remarks>
    public double? DegradedBudgetUse { get; set; } = 0.95;
}
