namespace Measuring.Tests;

/// <summary>Results and charts to test with.</summary>
internal static class Documents
{
    public static ResultDocument Create(string program = "Sample", params IReadOnlyList<ResultChart> charts) => new()
    {
        Program = program,
        Title = "A sample",
        Command = $"dotnet run -c Release --project benchmarks/{program}",
        Date = new DateTimeOffset(2026, 11, 21, 14, 30, 0, TimeSpan.FromHours(2)),
        Machine = new MachineDescription
        {
            Processor = "Some(R) Processor",
            Cores = 2,
            MemoryBytes = 25_000_000_000,
            OperatingSystem = "Some Linux",
            Runtime = ".NET 10.0.0",
            PageSize = 4096,
            HugePages = "madvise",
            FirstWriteMicroseconds = 0.25,
        },
        Notes = ["A note about `Rent<byte>`, a|b and <i>."],
        Tables =
        [
            new ResultTable
            {
                Title = "Times",
                Labels = ["subject", "threads"],
                Columns = [new ResultColumn("time", "ns", "N1"), new ResultColumn("objects", null, "0")],
                Rows = [new ResultRow(["pool | lease", "1"], [1234.56, 3]), new ResultRow(["GC", "1"], [7, null])],
            },
        ],
        Charts = charts,
    };

    public static ResultChart Lines(string title, params IReadOnlyList<ResultSeries> series)
        => new() { Title = title, Kind = ChartKind.Lines, X = "threads", Y = "time, ns", Series = series };

    public static ResultChart Bars(string title, IReadOnlyList<string> categories, params IReadOnlyList<ResultSeries> series)
        => new() { Title = title, Kind = ChartKind.Bars, X = "subject", Y = "time, ns", Categories = categories, Series = series };

    public static ResultSeries Series(string name, params IReadOnlyList<(double X, double Y)> points)
        => new(name, [.. points.Select(point => new ResultPoint(point.X, point.Y))]);
}
