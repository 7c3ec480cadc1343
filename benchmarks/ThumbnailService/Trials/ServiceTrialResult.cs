using System.Collections.Generic;
using System.Linq;
using Allocator;
using ThumbnailService.Loading;

namespace ThumbnailService.Trials;

/// <summary>What the service did under load.</summary>
internal sealed record ServiceTrialResult
{
    /// <summary>Gets the condition.</summary>
    public required ServiceTrial Trial { get; init; }

    /// <summary>Gets how many requests were to be answered.</summary>
    public required int Requests { get; init; }

    /// <summary>Gets what became of those that were sent.</summary>
    public required IReadOnlyList<RequestOutcome> Outcomes { get; init; }

    /// <summary>Gets the time from the first request to the last answer.</summary>
    public required double Seconds { get; init; }

    /// <summary>Gets its memory over that time.</summary>
    public required IReadOnlyList<MemoryPoint> Memory { get; init; }

    /// <summary>Gets the most that its cgroup was ever charged with; null where there is none, or the kernel does not tell.</summary>
    public long? PeakChargedBytes { get; init; }

    /// <summary>Gets whether the kernel killed it because the limit was reached.</summary>
    public bool WasKilled { get; init; }

    /// <summary>Gets the allocator's own counters afterwards; null where nobody answered.</summary>
    public MemoryAllocatorStatistics? Statistics { get; init; }

    /// <summary>Gets what the service wrote of failures.</summary>
    public string Errors { get; init; } = "";

    /// <summary>Gets how many requests got a thumbnail.</summary>
    public int Answered => Outcomes.Count(outcome => outcome.Thumbnail is not null);

    /// <summary>Gets the largest resident set that was seen.</summary>
    public long PeakResidentBytes => Memory.Select(point => point.ResidentBytes).DefaultIfEmpty().Max();
}
