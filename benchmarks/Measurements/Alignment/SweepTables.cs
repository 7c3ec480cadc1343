namespace Measurements.Alignment;

/// <summary>
/// Two runs of the same sweeps, each in a process of its own: their difference is the noise that all others are to be held against.
/// </summary>
internal sealed record SweepPair(SweepReport First, SweepReport Second);

/// <summary>
/// Tables and charts of the sweeps. The document's table has milliseconds for 100,000 buffers, as the document does; the others have
/// microseconds a buffer.
/// </summary>
internal sealed class SweepTables(IReadOnlyList<SweepPair> builds)
{
    private const double MillisecondsPerNanosecond = 100_000 / 1e6;
    private const double MicrosecondsPerNanosecond = 1e-3;

    /// <summary>Makes the document's table: two runs of two ways, and what they are to the first run of the first.</summary>
    public ResultTable AsInTheDocument() => new()
    {
        Title = "100,000 buffers, native aligned against over-allocate-and-align, memory untouched; x-factor: the time of "
            + "over-allocated 1 by this one, so that the first shows the noise",
        Labels = ["build", "test"],
        Columns =
        [
            new("over-allocated 1", "ms", "0.0"), new("over-allocated 2", "ms", "0.0"), new("native 1", "ms", "0.0"), new("native 2", "ms", "0.0"),
            new("over-allocated 2", "x-factor", "0.00"), new("native 1", "x-factor", "0.00"), new("native 2", "x-factor", "0.00"),
        ],
        Rows = [.. builds.SelectMany(build => Sweep.PixelTypes.Select(type => DocumentRow(build, type.Name)))],
    };

    /// <summary>Makes the table of all ways, for sweeps that write to the memory or do not.</summary>
    public ResultTable OfAllWays(bool touched)
    {
        IReadOnlyList<string> ways = Ways();
        return new ResultTable
        {
            Title = $"A buffer, all ways, {(touched ? "every page written to once before the release" : "memory untouched")}; x-factor: the time of {ways[0]} by this one",
            Labels = ["build", "test", "run"],
            Columns =
            [
                .. ways.Select(way => new ResultColumn(way, "µs", "0.00")),
                .. ways.Skip(1).Select(way => new ResultColumn(way, "x-factor", "0.000")),
            ],
            Rows =
            [
                .. from build in builds
                   from type in Sweep.PixelTypes
                   from run in (int[])[1, 2]
                   let times = ways.Select(way => Find(run == 1 ? build.First : build.Second, type.Name, way, touched)).ToList()
                   where times[0] is not null
                   select new ResultRow(
                       [build.First.Configuration, type.Name, $"{run}"],
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
            .. Ways().Select(way => new ResultSeries(
                way,
                [
                    .. from type in Sweep.PixelTypes.Index()
                       let time = Microseconds(Find(builds[0].First, type.Item.Name, way, touched))
                       where time is not null
                       select new ResultPoint(type.Index, time.Value),
                ])),
        ],
    };

    private static ResultRow DocumentRow(SweepPair build, string type)
    {
        IReadOnlyList<string> ways = [.. build.First.Times.Select(time => time.Way).Distinct().Take(2)];
        double[] times =
        [
            .. from way in ways
               from report in (SweepReport[])[build.First, build.Second]
               select Milliseconds(Find(report, type, way, touched: false))!.Value,
        ];
        return new ResultRow(
            [build.First.Configuration, type],
            [.. times.Cast<double?>(), times[0] / times[1], times[0] / times[2], times[0] / times[3]]);
    }

    private static SweepTime? Find(SweepReport report, string type, string way, bool touched)
        => report.Times.FirstOrDefault(time => time.Type == type && time.Way == way && time.Touched == touched);

    private static double? Milliseconds(SweepTime? time) => time?.Nanoseconds * MillisecondsPerNanosecond;

    private static double? Microseconds(SweepTime? time) => time?.Nanoseconds * MicrosecondsPerNanosecond;

    private IReadOnlyList<string> Ways() => [.. builds[0].First.Times.Select(time => time.Way).Distinct()];
}
