namespace Measurements.Fragmentation;

/// <summary>The document's table, and a chart of the resident set, for one pattern.</summary>
internal static class ChurnTable
{
    private const double Megabyte = 1e6;

    /// <summary>Makes the table of <paramref name="pattern"/>: figures below each other, sources of memory side by side.</summary>
    public static ResultTable Create(ChurnPattern pattern, IReadOnlyList<ChurnReport> reports) => new()
    {
        Title = $"Fragmentation, {pattern.Name}: {pattern.Description}",
        Labels = ["figure", "at"],
        Columns = [.. reports.Select(report => new ResultColumn(MemorySubject.NameOf(report.Subject), "MB", "N1"))],
        Rows =
        [
            Row("working set (RSS)", "start", reports, report => report.Start.Resident),
            Row("working set (RSS)", "end", reports, report => report.End.Resident),
            Row("working set (RSS)", "difference", reports, report => report.End.Resident - report.Start.Resident),
            Row(
                "working set (RSS)",
                "difference above what is live",
                reports,
                report => report.End.Resident - report.Start.Resident - report.LiveBytes),
            Row("working set (RSS)", "all released", reports, report => report.Released.Resident),
            Row("working set (RSS)", "peak", reports, report => report.PeakResident),
            Row("commit", "start", reports, report => report.Start.Committed),
            Row("commit", "end", reports, report => report.End.Committed),
            Row("commit", "difference", reports, report => report.End.Committed - report.Start.Committed),
            Row("commit", "all released", reports, report => report.Released.Committed),
            Row("peak commit", "start", reports, report => report.Start.PeakCommitted),
            Row("peak commit", "end", reports, report => report.End.PeakCommitted),
            Row("peak commit", "difference", reports, report => report.End.PeakCommitted - report.Start.PeakCommitted),
            Row("live, as asked for", "end", reports, report => report.LiveBytes),
        ],
    };

    public static ResultTable Summary(IReadOnlyList<ChurnReport> reports) => new()
    {
        Title = "What stays resident: at the end with the live images held, and after all was released",
        Labels = ["pattern", "memory from"],
        Columns =
        [
            new("iterations done", null, "N0"), new("time", "s", "0.0"), new("live", "MB", "N1"),
            new("RSS, end less start", "MB", "N1"), new("above live", "MB", "N1"), new("RSS, released less start", "MB", "N1"),
        ],
        Rows =
        [
            .. reports.Select(report => new ResultRow(
                [report.Pattern, MemorySubject.NameOf(report.Subject)],
                [
                    report.Iterations,
                    report.Seconds,
                    report.LiveBytes / Megabyte,
                    (report.End.Resident - report.Start.Resident) / Megabyte,
                    (report.End.Resident - report.Start.Resident - report.LiveBytes) / Megabyte,
                    (report.Released.Resident - report.Start.Resident) / Megabyte,
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

    private static ResultRow Row(string name, string moment, IReadOnlyList<ChurnReport> reports, Func<ChurnReport, long?> read)
        => new([name, moment], [.. reports.Select(report => read(report) / Megabyte)]);
}
