namespace Measurements.Fragmentation;

/// <summary>The document's table, and a chart of the resident set, for one pattern.</summary>
internal static class ChurnTable
{
    private const double Megabyte = 1e6;

    public static ResultTable Summary(IReadOnlyList<ChurnReport> reports) => new()
    {
        Title = "What stays resident: at the end with the live images held, and after all was released",
        Labels = ["pattern", "memory from"],
        Columns =
        [
            new("iterations done", null, "N0"), new("time", "s", "0.0"), new("live", "MB", "N1"),
            new("RSS, end less start", "MB", "N1"), new("above live", "MB", "N1"), new("RSS, released less start", "MB", "N1"),
            new("RSS, peak", "MB", "N1"),
        ],
        Rows =
        [
            .. reports.Select(report => new ResultRow(
                [report.Pattern, MemorySubject.NameOf(report.Subject)],
                [
                    report.Iterations,
                    report.Seconds,
                    report.LiveBytes / Megabyte,
                    (report.End - report.Start) / Megabyte,
                    (report.End - report.Start - report.LiveBytes) / Megabyte,
                    (report.Released - report.Start) / Megabyte,
                    report.Peak / Megabyte,
                ])),
        ],
    };

    public static ResultChart Chart(ChurnPattern pattern, IReadOnlyList<ChurnReport> reports) => new()
    {
        Title = $"Resident set while images come and go: {pattern.Name}",
        Kind = ChartKind.Lines,
        X = "iterations",
        Y = "resident set, MB",
        LogarithmicY = true,
        Series =
        [
            .. reports.Select(report => new ResultSeries(
                MemorySubject.NameOf(report.Subject),
                [.. report.Samples.Select(sample => new ResultPoint(sample.Iteration, Math.Round(sample.Resident / Megabyte, 2)))])),
        ],
    };
}
