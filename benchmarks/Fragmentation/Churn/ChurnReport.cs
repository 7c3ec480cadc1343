using System.Collections.Generic;
using Fragmentation.Subjects;

namespace Fragmentation.Churn;

/// <summary>What a child measured.</summary>
internal sealed record ChurnReport
{
    /// <summary>Gets the name of the pattern.</summary>
    public required string Pattern { get; init; }

    /// <summary>Gets the source of memory.</summary>
    public required SubjectKind Subject { get; init; }

    /// <summary>Gets how many iterations were done; fewer than asked for where the resident set reached the limit.</summary>
    public required int Iterations { get; init; }

    /// <summary>Gets how long they took, sampling included, in seconds.</summary>
    public required double Seconds { get; init; }

    /// <summary>Gets the memory before the first iteration.</summary>
    public required MemoryReading Start { get; init; }

    /// <summary>Gets the memory after the last iteration, with the live images and small allocations still held.</summary>
    public required MemoryReading End { get; init; }

    /// <summary>Gets what was held at the end, in bytes, as it was asked for.</summary>
    public required long LiveBytes { get; init; }

    /// <summary>Gets the memory after all was released, and idle memory given back where there is a way to.</summary>
    public required MemoryReading Released { get; init; }

    /// <summary>Gets the largest resident set, in bytes.</summary>
    public required long PeakResident { get; init; }

    /// <summary>Gets the memory over the iterations.</summary>
    public required IReadOnlyList<ChurnSample> Samples { get; init; }
}
