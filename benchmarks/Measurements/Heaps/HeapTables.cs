namespace Measurements.Heaps;

/// <summary>The tables and the charts.</summary>
internal static class HeapTables
{
    private static readonly Figure[] s_figures = [Figure.AllocateTime, Figure.FreeTime, Figure.PeakMemory, Figure.HeapMemory];

    public static IReadOnlyList<ResultTable> Create(HeapFigures figures)
        => [.. figures.Classes.Select(sizeClass => Figures(figures, sizeClass))];

    /// <summary>Times of the smallest and of the largest class, and the memory of what is touched.</summary>
    public static IReadOnlyList<ResultChart> CreateCharts(HeapFigures figures)
    {
        if (figures.Threads.Count < 2)
        {
            return [];
        }

        SizeClass largest = figures.Classes[^1];
        IEnumerable<SizeClass> timed =
            figures.Classes.Where(sizeClass => sizeClass == figures.Classes[0] || sizeClass.SizeInBytes == largest.SizeInBytes);
        return
        [
            .. timed.SelectMany(
                sizeClass => new[] { Chart(figures, sizeClass, Figure.AllocateTime), Chart(figures, sizeClass, Figure.FreeTime) }),
            Chart(figures, largest, Figure.PeakMemory),
        ];
    }

    // A row for each figure and heap, a column for each number of threads, and the slope.
    private static ResultTable Figures(HeapFigures figures, SizeClass sizeClass)
    {
        IReadOnlyList<int> threads = figures.Threads;
        return new ResultTable
        {
            Title = $"{sizeClass.Title}: means of {figures.Runs} runs",
            Labels = ["figure", "heap"],
            Columns =
            [
                .. threads.Select(count => new ResultColumn(count == 1 ? "1 thread" : Invariant($"{count}"), null, "0.0")),
                .. threads.Count > 1 ? [new ResultColumn($"{threads[^1]} ÷ {threads[0]}", "×", "0.0")] : Array.Empty<ResultColumn>(),
            ],
            Rows =
            [
                .. from figure in s_figures
                   from heap in figures.Heaps
                   let series = figures.Series(sizeClass, heap, figure.Read)
                   select new ResultRow([figure.Title, HeapNames.Of(heap)], series.Count > 1 ? [.. series, Slope(series)] : series),
            ],
        };
    }

    private static ResultChart Chart(HeapFigures figures, SizeClass sizeClass, Figure figure) => new()
    {
        Title = $"{figure.Name}: {sizeClass.Title}",
        Kind = ChartKind.Lines,
        X = "threads",
        Y = figure.Title,
        LogarithmicX = true,
        LogarithmicY = true,
        Series =
        [
            .. from heap in figures.Heaps
               let points = figures.Threads.Zip(
                   figures.Series(sizeClass, heap, figure.Read), (threads, value) => new ResultPoint(threads, value ?? 0))

               // What is not above zero has no place on a logarithmic axis.
               select new ResultSeries(HeapNames.Of(heap), [.. points.Where(point => point.Y > 0)]),
        ],
    };

    // A time that is not above the clock's own cost is none, and nothing can be said relative to it.
    private static double? Slope(IReadOnlyList<double?> series) => series[0] > 0 ? series[^1] / series[0] : null;
}
