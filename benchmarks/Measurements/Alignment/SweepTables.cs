namespace Measurements.Alignment;

/// <summary>Tables and charts of the sweeps: two runs, each in a process of its own, in microseconds a buffer.</summary>
internal sealed class SweepTables(IReadOnlyList<SweepReport> runs)
{
    private const double MicrosecondsPerNanosecond = 1e-3;

    private readonly IReadOnlyList<string> _ways = [.. runs[0].Times.Select(time => time.Way).Distinct()];

    /// <summary>Makes the table of all ways, for sweeps that write to the memory or do not.</summary>
    public ResultTable OfAllWays(bool touched)
    {
        string memory = touched ? "every page written to once before the release" : "memory untouched";
        return new ResultTable
        {
            Title = $"A buffer, all ways, {memory}; x-factor: the time of {_ways[0]} by this one",
            Labels = ["test", "run"],
            Columns =
            [
                .. _ways.Select(way => new ResultColumn(way, "µs", "0.00")),
                .. _ways.Skip(1).Select(way => new ResultColumn(way, "x-factor", "0.000")),
            ],
            Rows =
            [
                .. from type in Sweep.PixelTypes
                   from run in runs.Index()
                   let times = _ways.Select(way => Find(run.Item, type.Name, way, touched)).ToList()
                   where times[0] is not null
                   select new ResultRow(
                       [type.Name, $"{run.Index + 1}"],
                       [.. times.Select(Microseconds), .. times.Skip(1).Select(time => time?.Factor)]),
            ],
        };
    }

    public ResultChart Chart(bool touched) => new()
    {
        Title = touched ? "A buffer allocated, written to and released" : "A buffer allocated and released, memory untouched",
        Kind = ChartKind.Bars,
        X = "type of pixels, 1 to 4 bytes; mean of twenty image sizes",
        Y = "time a buffer, µs",
        LogarithmicY = true,
        Categories = [.. Sweep.PixelTypes.Select(type => type.Name)],
        Series =
        [
            .. _ways.Select(way => new ResultSeries(
                way,
                [
                    .. from type in Sweep.PixelTypes.Index()
                       let time = Microseconds(Find(runs[0], type.Item.Name, way, touched))
                       where time is not null
                       select new ResultPoint(type.Index, time.Value),
                ])),
        ],
    };

    private static SweepTime? Find(SweepReport report, string type, string way, bool touched)
        => report.Times.FirstOrDefault(time => time.Type == type && time.Way == way && time.Touched == touched);

    private static double? Microseconds(SweepTime? time) => time?.Nanoseconds * MicrosecondsPerNanosecond;
}
