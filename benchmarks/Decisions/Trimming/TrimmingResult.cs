using System.Collections.Generic;

namespace Decisions.Trimming;

/// <summary>What one child process found.</summary>
internal sealed record TrimmingResult
{
    /// <summary>Gets how many bursts there were in a second of work.</summary>
    public required double BurstsPerSecond { get; init; }

    /// <summary>Gets the collections during the work.</summary>
    public required CollectionCounts Work { get; init; }

    /// <summary>Gets the collections while the process was watched.</summary>
    public required CollectionCounts Idle { get; init; }

    /// <summary>Gets what was seen after the last burst, the first at time 0.</summary>
    public required IReadOnlyList<TrimmingSample> Samples { get; init; }
}
