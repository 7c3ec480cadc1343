namespace Allocator.AspNetCore;

/// <summary>The thresholds from which the health check of an allocator reports degraded.</summary>
public sealed class MemoryAllocatorHealthOptions
{
    /// <summary>
    /// Gets or sets which part of the container's or machine's memory may be used before the check is degraded, from 0 to 1. The default,
    /// <see langword="null"/>, is that of the allocator's trimming: 0.9, or 0.75 while threads wait for memory.
    /// </summary>
    public double? DegradedMemoryLoad { get; set; }

    /// <summary>
    /// Gets or sets which part of the memory budget, reservations included, may be used before the check is degraded, from 0 to 1, or
    /// <see langword="null"/> to ignore the budget. The default is 0.95.
    /// </summary>
    /// <remarks>A full budget is no fault, but requests begin to wait.</remarks>
    public double? DegradedBudgetUse { get; set; } = 0.95;
}
