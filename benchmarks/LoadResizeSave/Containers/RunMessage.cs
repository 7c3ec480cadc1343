using Allocator;

namespace LoadResizeSave.Containers;

/// <summary>What a child found when all its jobs had ended.</summary>
internal sealed record RunMessage
{
    /// <summary>Gets the seconds from the first job to the last.</summary>
    public required double Seconds { get; init; }

    /// <summary>Gets the memory before the first job.</summary>
    public required MemoryReading Before { get; init; }

    /// <summary>Gets the memory after the last one, when what lies idle was released.</summary>
    public required MemoryReading After { get; init; }

    /// <summary>Gets the memory after garbage was collected too.</summary>
    public required MemoryReading Collected { get; init; }

    /// <summary>Gets the library's own counters at the end; null for others.</summary>
    public MemoryAllocatorStatistics? Statistics { get; init; }
}
