namespace ThumbnailService.Trials;

/// <summary>The service in a cgroup.</summary>
/// <param name="IsProtected">Whether requests are admitted by memory, and the limit is honored.</param>
internal sealed record ServiceTrial(int LimitMegabytes, bool IsProtected);

/// <summary>What its cgroup was charged with at one moment, without cached files.</summary>
internal readonly record struct ChargePoint(DateTimeOffset Time, long Bytes);

/// <summary>What the service did under load.</summary>
internal sealed record ServiceTrialResult
{
    /// <summary>How much more than at the start may be charged in the end.</summary>
    public const long MostLeftBytes = 16 << 20;

    public required ServiceTrial Trial { get; init; }

    public required int Requests { get; init; }

    public required IReadOnlyList<RequestOutcome> Outcomes { get; init; }

    /// <summary>Gets when the first request was sent.</summary>
    public required DateTimeOffset Started { get; init; }

    /// <summary>Gets the time until the last answer.</summary>
    public required double Seconds { get; init; }

    public required IReadOnlyList<ChargePoint> Charges { get; init; }

    /// <summary>Gets the most that its cgroup was ever charged with, cached files included; null where the kernel does not tell.</summary>
    public long? PeakBytes { get; init; }

    public int Kills { get; init; }

    /// <summary>Gets what was charged before the load, when the service was warm and idle.</summary>
    public required long StartBytes { get; init; }

    /// <summary>Gets what was charged after as long a time without a request.</summary>
    public required long EndBytes { get; init; }

    /// <summary>Gets the service's own samples at the end; null where it did not answer.</summary>
    public IReadOnlyList<HistorySample>? History { get; init; }

    public string Errors { get; init; } = "";

    /// <summary>Gets what is not as it should be: nothing where the run is good.</summary>
    public IEnumerable<string> Faults
    {
        get
        {
            if (Kills > 0)
            {
                yield return "killed";
            }

            if (Outcomes.Count < Requests)
            {
                yield return Invariant($"{Requests - Outcomes.Count} requests not sent");
            }

            foreach (string failure in Outcomes.Select(outcome => outcome.Failure).OfType<string>())
            {
                yield return failure;
            }

            if (Outcomes.Where(outcome => outcome.Thumbnail is not null).Distinct().GroupBy(outcome => outcome.Request.File.Name)
                .FirstOrDefault(same => same.DistinctBy(outcome => outcome.Thumbnail).Count() > 1) is { } different)
            {
                yield return $"{different.Key} came back as different thumbnails";
            }

            if (Kills == 0 && History is not [.., { Outstanding: 0, Reserved: 0, Waiting: 0 }])
            {
                yield return $"memory is outstanding, reserved or waited for without a request: {History?.LastOrDefault()}";
            }

            if (Kills == 0 && EndBytes - StartBytes > MostLeftBytes)
            {
                yield return Invariant($"{(EndBytes - StartBytes) / 1048576.0:0.0} MiB stayed");
            }
        }
    }
}
