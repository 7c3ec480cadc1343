namespace ThumbnailService.Trials;

/// <summary>The service under one condition.</summary>
/// <param name="LimitMegabytes">The limit of its cgroup in MiB; null: it only counts.</param>
internal sealed record ServiceTrial(string Name, AllocatorKind Allocator, int? BudgetMegabytes, int? LimitMegabytes);

/// <summary>What the service held at one moment.</summary>
/// <param name="ChargedBytes">What its cgroup was charged with; where there is none, the resident set.</param>
internal readonly record struct MemoryPoint(double Seconds, long ResidentBytes, long ChargedBytes);

/// <summary>What the service did under load.</summary>
internal sealed record ServiceTrialResult
{
    public required ServiceTrial Trial { get; init; }

    public required int Requests { get; init; }

    public required IReadOnlyList<RequestOutcome> Outcomes { get; init; }

    public required double Seconds { get; init; }

    public required IReadOnlyList<MemoryPoint> Memory { get; init; }

    /// <summary>Gets the most that its cgroup was ever charged with; null where there is none, or the kernel does not tell.</summary>
    public long? PeakChargedBytes { get; init; }

    public bool WasKilled { get; init; }

    /// <summary>Gets the allocator's own counters afterwards; null where the service did not answer.</summary>
    public MemoryAllocatorStatistics? Statistics { get; init; }

    public string Errors { get; init; } = "";

    public int Answered => Outcomes.Count(outcome => outcome.Thumbnail is not null);

    public long PeakResidentBytes => Memory.Select(point => point.ResidentBytes).DefaultIfEmpty().Max();
}
