namespace LoadResizeSave.Running;

/// <summary>What is written to <c>results.json</c>: enough to compare two machines or two versions.</summary>
internal sealed record JobReport
{
    public required DateTimeOffset Date { get; init; }

    public required string Machine { get; init; }

    public required int Parallelism { get; init; }

    public required int Repeat { get; init; }

    public required int Width { get; init; }

    /// <summary>Gets how often the pool looked at its idle memory, in seconds.</summary>
    public required double TrimPeriodSeconds { get; init; }

    /// <summary>Gets the hash of all saved files; null where the allocators differ.</summary>
    public string? OutputSha256 { get; init; }

    public required IReadOnlyList<MeasuredRun> Runs { get; init; }
}
