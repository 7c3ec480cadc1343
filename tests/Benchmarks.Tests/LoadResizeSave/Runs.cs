using LoadResizeSave.Reporting;

namespace LoadResizeSave.Tests;

/// <summary>Runs without waiting.</summary>
internal static class Runs
{
    public static MeasuredRun Create(AllocatorKind kind, double wallSeconds = 2, double cpuSeconds = 3, double peakMegabytes = 400)
        => new()
        {
            Allocator = kind,
            WallSeconds = wallSeconds,
            Pictures = 2,
            Megapixels = 48,
            Cost = new ProcessCounters
            {
                UserTime = TimeSpan.FromSeconds(cpuSeconds),
                MinorFaults = 1000,
                MajorFaults = 0,
                ManagedBytes = 5_000_000,
            },
            PeakResidentBytes = (long)(peakMegabytes * 1e6),
            FinalResidentBytes = 50_000_000,
            ReleasedAt = 3,
            Samples = [.. Enumerable.Range(0, 200).Select(i => new MemorySample(i * 0.02, 1_000_000L * i, 500_000L * i))],
            Saved = [new("a", 1, "00"), new("b", 1, "11")],
            Skipped = [new("c", "damaged")],
        };

    /// <summary>Rounds of pool and unpooled with these peaks, in megabytes.</summary>
    public static List<Round> Rounds(params IReadOnlyList<(double Pool, double Unpooled)> peaks)
        => [.. peaks.Select((peak, i) => new Round(
            i + 1, [Create(AllocatorKind.Pool, peakMegabytes: peak.Pool), Create(AllocatorKind.Unpooled, peakMegabytes: peak.Unpooled)]))];
}
