using Allocator;

namespace LoadResizeSave.Containers;

/// <summary>What a child found when all its jobs had ended.</summary>
internal sealed record RunMessage
{
    public required double Seconds { get; init; }

    public required MemoryReading Before { get; init; }

    /// <summary>Gets the memory after the last one, when what lies idle was released.</summary>
    public required MemoryReading After { get; init; }

    public required MemoryReading Collected { get; init; }

    public MemoryAllocatorStatistics? Statistics { get; init; }
}
