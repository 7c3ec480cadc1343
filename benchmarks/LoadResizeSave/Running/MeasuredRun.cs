using Allocator;
using LoadResizeSave.Pixels;

namespace LoadResizeSave.Running;

/// <summary>All that a child found out about one allocator.</summary>
internal sealed record MeasuredRun
{
    public required AllocatorKind Allocator { get; init; }

    public required double WallSeconds { get; init; }

    public required int Pictures { get; init; }

    /// <summary>Gets how many pixels were decoded, in millions, repetitions counted.</summary>
    public required double Megapixels { get; init; }

    public required ProcessCounters Cost { get; init; }

    public IReadOnlyList<MeasuredPass> Passes { get => field ?? []; init; }

    /// <summary>Gets the memory of the machine that the process occupied before the work, in bytes.</summary>
    public required long InitialResidentBytes { get; init; }

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
