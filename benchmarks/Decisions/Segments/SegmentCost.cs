namespace Decisions.Segments;

/// <summary>What it took to map some memory, to write to all its pages, and to unmap it. In microseconds.</summary>
internal sealed record SegmentCost
{
    /// <summary>Gets the time to map all of it.</summary>
    public required double Map { get; init; }

    /// <summary>Gets the time to write to each page for the first time.</summary>
    public required double FirstTouch { get; init; }

    /// <summary>Gets the time to unmap all of it.</summary>
    public required double Unmap { get; init; }

    /// <summary>Gets the longest single call among those that unmap.</summary>
    public required double LongestUnmap { get; init; }

    /// <summary>Gets by how many mappings the process had more; null where the system does not tell.</summary>
    public required int? MappingsAdded { get; init; }

    /// <summary>Gets the time of everything.</summary>
    public double Total => Map + FirstTouch + Unmap;
}
