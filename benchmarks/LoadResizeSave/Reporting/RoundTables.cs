namespace LoadResizeSave.Reporting;

/// <summary>The tables over many rounds.</summary>
internal sealed class RoundTables
{
    private const double LowerQuartile = 0.25;
    private const double UpperQuartile = 0.75;

    private static readonly RunFigure[] s_figures =
    [
        RunFigure.Photographs, RunFigure.Megapixels, RunFigure.Wall, RunFigure.Cpu, RunFigure.User, RunFigure.System,
        RunFigure.PeakResident, RunFigure.FinalResident, RunFigure.PageFaults, RunFigure.Managed,
    ];

    // What the pool has to be at most, as a ratio to another allocator.
    private static readonly (RunFigure Figure, AllocatorKind Other, double Reach)[] s_aims =
    [
        (RunFigure.PeakResident, AllocatorKind.Unpooled, 1.1),
        (RunFigure.PeakResident, AllocatorKind.ArrayPool, 1),
        (RunFigure.PeakResident, AllocatorKind.GC, 1),
        (RunFigure.Cpu, AllocatorKind.Unpooled, 1),
        (RunFigure.Cpu, AllocatorKind.ArrayPool, 1),
        (RunFigure.Cpu, AllocatorKind.GC, 1),
    ];

    private readonly IReadOnlyList<Round> _rounds;
    private readonly IReadOnlyList<AllocatorKind> _kinds;

    public RoundTables(IReadOnlyList<Round> rounds)
    {
        _rounds = rounds;
        _kinds = [.. rounds[0].Runs.Select(run => run.Allocator)];
    }

    /// <summary>Gets the allocator that ratios are to: the pool, or the first where there is no pool.</summary>
    public AllocatorKind Reference => _kinds.Contains(AllocatorKind.Pool) ? AllocatorKind.Pool : _kinds[0];

    public IEnumerable<ResultTable> Create()
    {
        yield return CreateFigures();
        if (_kinds.Count > 1)
        {
            yield return CreateRatios();
        }

        if (_kinds.Count > 1 && _kinds.Contains(AllocatorKind.Pool))
        {
            yield return CreateAims();
        }
    }

    private ResultTable CreateFigures() => new()
    {
        Title = "Each allocator",
        Labels = ["allocator", string.Create(CultureInfo.InvariantCulture, $"of {_rounds.Count} runs")],
        Columns = [.. s_figures.Select(figure => new ResultColumn(figure.Name, figure.Unit, figure.Format))],
        Rows =
        [
            .. _kinds.SelectMany((kind, i) => (ResultRow[])
            [
                new([JobText.Name(kind), "lower quartile"], [.. s_figures.Select(figure => Percentile(Values(figure, i), LowerQuartile))]),
                new([JobText.Name(kind), "median"], [.. s_figures.Select(figure => Median(Values(figure, i)))]),
                new([JobText.Name(kind), "upper quartile"], [.. s_figures.Select(figure => Percentile(Values(figure, i), UpperQuartile))]),
            ]),
        ],
    };

    private ResultTable CreateRatios() => new()
    {
        Title = $"Medians of the ratios to {JobText.Name(Reference)} in the same round",
        Labels = ["allocator"],
        Columns = [.. s_figures.Select(figure => new ResultColumn(figure.Name, "×", "0.00"))],
        Rows =
        [
            .. _kinds.Where(kind => kind != Reference).Select(kind =>
                new ResultRow([JobText.Name(kind)], [.. s_figures.Select(figure => Median(Ratios(figure, kind, Reference)))])),
        ],
    };

    private ResultTable CreateAims() => new()
    {
        Title = "What the pool has to reach",
        Labels = ["pool's", "divided by that of"],
        Columns =
        [
            new("lower quartile", "×", "0.00"), new("median", "×", "0.00"), new("upper quartile", "×", "0.00"),
            new("at most", "×", "0.0"),
        ],
        Rows =
        [
            .. s_aims.Where(aim => _kinds.Contains(aim.Other)).Select(aim =>
            {
                List<double> ratios = Ratios(aim.Figure, AllocatorKind.Pool, aim.Other);
                return new ResultRow(
                    [aim.Figure.Name, JobText.Name(aim.Other)],
                    [Percentile(ratios, LowerQuartile), Median(ratios), Percentile(ratios, UpperQuartile), aim.Reach]);
            }),
        ],
    };

    private List<double> Values(RunFigure figure, int allocator)
        => [.. _rounds.Select(round => figure.Read(round.Runs[allocator])).OfType<double>()];

    // Nothing divided by nothing, as system time may be in a short run, is no ratio.
    private List<double> Ratios(RunFigure figure, AllocatorKind kind, AllocatorKind reference)
    {
        (int i, int j) = (Index(kind), Index(reference));
        return
        [
            .. _rounds.Select(round => figure.Read(round.Runs[i]) / figure.Read(round.Runs[j])).OfType<double>().Where(double.IsFinite),
        ];
    }

    private int Index(AllocatorKind kind) => _kinds.ToList().IndexOf(kind);

    private static double? Median(List<double> values) => values.Count == 0 ? null : Statistics.Median(values);

    private static double? Percentile(List<double> values, double fraction)
        => values.Count == 0 ? null : Statistics.Percentile(values, fraction);
}
