namespace LoadResizeSave.Running;

/// <summary>What a process held at one moment: seconds since the work began, and bytes.</summary>
internal readonly record struct MemorySample(double Seconds, long ResidentBytes, long CommittedBytes);

/// <summary>A picture that went all the way: its name, the size that was decoded, and the hash of the file that was written.</summary>
internal sealed record SavedPicture(string Name, long SourcePixels, string Sha256);

/// <summary>A file that was not decoded, and why.</summary>
internal sealed record SkippedPicture(string Name, string Reason);

/// <summary>What a child reports to its parent: how far it is, or at the end what it found.</summary>
internal sealed record JobProgress
{
    public int? Done { get; init; }

    public int? Total { get; init; }

    public MeasuredRun? Result { get; init; }
}

/// <summary>Reads and writes what the processes exchange.</summary>
[JsonSourceGenerationOptions(
    UseStringEnumConverter = true,
    IgnoreReadOnlyProperties = true,
    DefaultIgnoreCondition = JsonIgnoreCondition.WhenWritingNull,
    PropertyNamingPolicy = JsonKnownNamingPolicy.CamelCase)]
[JsonSerializable(typeof(JobOptions))]
[JsonSerializable(typeof(JobProgress))]
internal sealed partial class JobJson : JsonSerializerContext;

/// <summary>All that a child found out about one allocator. Memory is in bytes.</summary>
internal sealed record MeasuredRun
{
    public required AllocatorKind Allocator { get; init; }

    public required double WallSeconds { get; init; }

    public required int Pictures { get; init; }

    /// <summary>Gets how many pixels were decoded, in millions, repetitions counted.</summary>
    public required double Megapixels { get; init; }

    public required ProcessCounters Cost { get; init; }

    public required long PeakResidentBytes { get; init; }

    /// <summary>Gets what it still occupied at the end, after the trims and the release.</summary>
    public required long FinalResidentBytes { get; init; }

    /// <summary>Gets when idle memory was released, in seconds on the clock of <see cref="Samples"/>.</summary>
    public required double ReleasedAt { get; init; }

    public required IReadOnlyList<MemorySample> Samples { get; init; }

    public required IReadOnlyList<SavedPicture> Saved { get; init; }

    public required IReadOnlyList<SkippedPicture> Skipped { get; init; }

    /// <summary>Gets the library's own counters after the release; null for arrays.</summary>
    public MemoryAllocatorStatistics? Statistics { get; init; }
}

/// <summary>Tells whether all allocators led to the same files: memory that was handed out twice would show here.</summary>
internal sealed class OutputComparison(IReadOnlyList<MeasuredRun> runs)
{
    public IReadOnlyList<string> Differences { get; } =
    [
        .. runs.SelectMany(run => runs[0].Saved.Except(run.Saved).Concat(run.Saved.Except(runs[0].Saved)))
            .Select(picture => picture.Name).Distinct().Order(StringComparer.Ordinal),
    ];

    public bool AreIdentical => Differences.Count == 0;

    /// <summary>Gets the hash of all files of the first run.</summary>
    public string Hash { get; } = Convert.ToHexStringLower(SHA256.HashData(Encoding.UTF8.GetBytes(
        string.Concat(runs[0].Saved.Select(picture => $"{picture.Sha256} {picture.Name}\n")))));
}
