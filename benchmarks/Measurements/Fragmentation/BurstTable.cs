namespace Measurements.Fragmentation;

/// <summary>The table and the chart of the waves of bursts.</summary>
internal static class BurstTable
{
    /// <summary>What the third wave may leave resident above what is live, in bytes.</summary>
    public const long Aim = 8_000_000;

    private const double Megabyte = 1e6;

    public static ResultTable Create(IReadOnlyList<BurstReport> reports) => new()
    {
        Title = $"Resident set in {BurstRun.Waves} waves of {reports[0].Blocks} blocks of 4 MiB, touched, nine in ten returned, idle "
            + "memory released; "
            + $"live then: {reports[0].LiveBytes / Megabyte:0.0} MB; aim: at most {Aim / Megabyte:0} MB above it in the third",
        Labels = ["memory from", "wave"],
        Columns = [new("all out", "MB", "N1"), new("nine in ten returned", "MB", "N1"), new("released", "MB", "N1"), new("released, above live", "MB", "N1")],
        Rows =
        [
            .. from report in reports
               from wave in report.Waves.Index()
               select new ResultRow(
                   [MemorySubject.NameOf(report.Subject), $"{wave.Index + 1}"],
                   [
                       wave.Item.Full / Megabyte, wave.Item.Returned / Megabyte, wave.Item.Released / Megabyte,
                       (wave.Item.Released - report.LiveBytes) / Megabyte,
                   ]),
        ],
    };

    /// <summary>Makes the chart: what is left above what is live, wave by wave.</summary>
    public static ResultChart Chart(IReadOnlyList<BurstReport> reports) => new()
    {
        Title = "Resident above what is live, after a burst was returned and released",
        Kind = ChartKind.Bars,
        X = "wave",
        Y = "resident set above live, MB",
        Categories = [.. Enumerable.Range(1, BurstRun.Waves).Select(wave => $"{wave}")],
        Series =
        [
            .. reports.Select(report => new ResultSeries(
                MemorySubject.NameOf(report.Subject),
                [.. report.Waves.Select((wave, i) => new ResultPoint(i, (wave.Released - report.LiveBytes) / Megabyte))])),
        ],
    };
}
