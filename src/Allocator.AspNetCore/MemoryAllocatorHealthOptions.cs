namespace Allocator.AspNetCore;

/// <summary>From where on the health check of an allocator reports degraded.</summary>
public sealed class MemoryAllocatorHealthOptions
{
    /// <summary>
    /// Gets or sets which part of the memory of the container, or of the machine, is a high load: from 0 to 1. <see langword="null"/>: as
    /// the allocator's trimming sees it, 0.9, or 0.75 while threads wait for memory.
    /// </summary>
    public double? DegradedMemoryLoad { get; set; }

    /// <summary>
    /// Gets or sets which part of the memory budget, reservations included, is a high load: from 0 to 1. <see langword="null"/>: none,
    /// however full it is. The default is 0.95.
    /// </summary>
    /// <remarks>A full budget is no fault, but requests begin to wait there.</remarks>
    public double? DegradedBudgetUse { get; set; } = 0.95;
}
