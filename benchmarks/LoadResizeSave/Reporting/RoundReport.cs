namespace LoadResizeSave.Reporting;

/// <summary>One run of every allocator, close together in time, so that the machine's other work affects all of them.</summary>
/// <param name="Runs">The runs, in the order of the allocators on the command line.</param>
internal sealed record Round(int Number, IReadOnlyList<MeasuredRun> Runs)
{
    /// <summary>Returns the round whose times and peaks, over all allocators, are nearest to their medians.</summary>
    public static Round NearestToMedians(IReadOnlyList<Round> rounds)
    {
        double[] distances = new double[rounds.Count];
        for (int i = 0; i < rounds[0].Runs.Count; i++)
        {
            foreach (Func<MeasuredRun, double> read in (Func<MeasuredRun, double>[])[run => run.WallSeconds, run => run.PeakResidentBytes])
            {
                double[] values = [.. rounds.Select(round => read(round.Runs[i]))];
                double median = Statistics.Median(values);
                distances = [.. distances.Zip(values, (distance, value) => distance + Math.Abs((value / median) - 1))];
            }
        }

        return rounds[Array.IndexOf(distances, distances.Min())];
    }
}

/// <summary>A figure that runs are compared by.</summary>
/// <param name="Read">Reads it from a run; null if the system does not report it.</param>
internal sealed record RunFigure(string Name, string? Unit, string Format, Func<MeasuredRun, double?> Read);

/// <summary>The result of one round or many: tables, charts over the rounds, and the memory over time of a usual one.</summary>
internal sealed class RoundReport
{
    public const string ChartFile = "LoadResizeSave-memory.svg";

    private const double LowerQuartile = 0.25;
    private const double UpperQuartile = 0.75;

    private static readonly RunFigure s_photographs = new("photographs", "per second", "0.0", run => run.Pictures / run.WallSeconds);
    private static readonly RunFigure s_cpu =
        new("CPU", "seconds", "0.00", run => (run.Cost.UserTime + run.Cost.SystemTime).TotalSeconds);

    private static readonly RunFigure s_peakResident = new("peak RSS", "MB", "0", run => run.PeakResidentBytes / 1e6);

    private static readonly RunFigure[] s_figures =
    [
        s_photographs,
        new("megapixels", "per second", "0", run => run.Megapixels / run.WallSeconds),
        new("wall", "seconds", "0.00", run => run.WallSeconds),
        s_cpu,
        new("user", "CPU seconds", "0.00", run => run.Cost.UserTime.TotalSeconds),
        new("system", "CPU seconds", "0.00", run => run.Cost.SystemTime.TotalSeconds),
        s_peakResident,
        new("final RSS", "MB", "0", run => run.FinalResidentBytes / 1e6),
        new("page faults", null, "N0", run => run.Cost.MinorFaults + run.Cost.MajorFaults),
        new("GC", "MB", "N1", run => run.Cost.ManagedBytes / 1e6),
        new("GCs", "of gen 2", "0", run => run.Cost.Gen2),
    ];

    // What the pool has to be at most, as a ratio to another allocator.
    private static readonly (RunFigure Figure, AllocatorKind Other, double Reach)[] s_aims =
    [
        (s_peakResident, AllocatorKind.Unpooled, 1.1),
        (s_peakResident, AllocatorKind.ArrayPool, 1),
        (s_peakResident, AllocatorKind.GC, 1),
        (s_cpu, AllocatorKind.Unpooled, 1),
        (s_cpu, AllocatorKind.ArrayPool, 1),
        (s_cpu, AllocatorKind.GC, 1),
    ];

    private readonly IReadOnlyList<Round> _rounds;
    private readonly IReadOnlyList<AllocatorKind> _kinds;
    private readonly JobOptions _options;

    public RoundReport(IReadOnlyList<Round> rounds, JobOptions options)
    {
        _rounds = rounds;
        _kinds = [.. rounds[0].Runs.Select(run => run.Allocator)];
        _options = options;
    }

    // What ratios are to: the pool, or the first where there is no pool.
    private AllocatorKind Reference => _kinds.Contains(AllocatorKind.Pool) ? AllocatorKind.Pool : _kinds[0];

    /// <summary>Returns <paramref name="document"/> with all that the rounds show.</summary>
    public ResultDocument Complete(ResultDocument document, TimeSpan elapsed)
    {
        Round median = Round.NearestToMedians(_rounds);
        return document with
        {
            Tables = [.. CreateTables()],
            Notes = [.. Notes(median, elapsed)],
            Charts = _rounds.Count == 1 ? [] :
            [
                Chart("CPU time of each run", "CPU time, seconds", s_cpu),
                Chart("Peak resident memory of each run", "peak resident memory, MB", s_peakResident),
            ],
            Pictures = [new ResultPicture(Invariant($"Memory over time, round {median.Number}"), ChartFile)],
        };
    }

    private IEnumerable<ResultTable> CreateTables()
    {
        yield return CreateFigures();
        if (_kinds.Count > 1)
        {
            yield return CreateRatios();
        }

        if (_rounds.Count > 1 && _kinds.Count > 1 && _kinds.Contains(AllocatorKind.Pool))
        {
            yield return CreateAims();
        }
    }

    private ResultTable CreateFigures() => new()
    {
        Title = "Each allocator",
        Labels = ["allocator", _rounds.Count == 1 ? "runs" : Invariant($"of {_rounds.Count} runs")],
        Columns = [.. s_figures.Select(figure => new ResultColumn(figure.Name, figure.Unit, figure.Format))],
        Rows =
        [
            .. _kinds.SelectMany((kind, i) => _rounds.Count == 1 ? [Row(kind, "one", Median, i)] : (ResultRow[])
            [
                Row(kind, "lower quartile", values => Percentile(values, LowerQuartile), i),
                Row(kind, "median", Median, i),
                Row(kind, "upper quartile", values => Percentile(values, UpperQuartile), i),
            ]),
        ],
    };

    private ResultTable CreateRatios() => new()
    {
        Title = $"Medians of the ratios to {Reference.Name()} in the same round",
        Labels = ["allocator"],
        Columns = [.. s_figures.Select(figure => new ResultColumn(figure.Name, "×", "0.00"))],
        Rows =
        [
            .. _kinds.Where(kind => kind != Reference).Select(kind =>
                new ResultRow([kind.Name()], [.. s_figures.Select(figure => Median(Ratios(figure, kind, Reference)))])),
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
                    [aim.Figure.Name, aim.Other.Name()],
                    [Percentile(ratios, LowerQuartile), Median(ratios), Percentile(ratios, UpperQuartile), aim.Reach]);
            }),
        ],
    };

    private ResultRow Row(AllocatorKind kind, string label, Func<List<double>, double?> figureOf, int i)
        => new([kind.Name(), label], [.. s_figures.Select(figure => figureOf(Values(figure, i)))]);

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

    private ResultChart Chart(string title, string label, RunFigure figure) => new()
    {
        Title = title,
        Kind = ChartKind.Lines,
        X = "round",
        Y = label,
        Series =
        [
            .. _kinds.Select((kind, i) => new ResultSeries(
                kind.Name(), [.. _rounds.Select(round => new ResultPoint(round.Number, figure.Read(round.Runs[i])!.Value))])),
        ],
    };

    private IEnumerable<string> Notes(Round median, TimeSpan elapsed)
    {
        MeasuredRun run = median.Runs[0];
        OutputComparison comparison = new(median.Runs);
        yield return Invariant(
            $"One run takes {run.Pictures} pictures, {run.Megapixels:N0} megapixels, through loading, resizing to a width of ")
            + Invariant($"{JobOptions.Width} and saving, {_options.Parallelism} at once, in a process of its own.");
        yield return "In each round every allocator runs once; the one that begins is another in each round.";
        yield return $"A ratio is taken to {Reference.Name()} in the same round, and the table has the median of these "
            + "ratios. Quartiles are nearest ranks.";
        yield return "CPU time, page faults, GC MB and GCs are those of the work; the waiting for the trims is not counted. Peak RSS is "
            + "the kernel's own high-water mark of the whole process.";
        yield return Invariant(
            $"Final RSS is read {JobChild.IdlePeriods} trim periods of {_options.TrimPeriod.TotalSeconds:0.##} seconds after ")
            + "the work, and after the release that follows them.";
        yield return Invariant($"Memory over time is that of round {median.Number}, the one nearest to the medians of time and peak.");
        yield return Invariant($"All {run.Saved.Count} files are the same in all {_rounds.Count * median.Runs.Count} runs, SHA-256 ")
            + Invariant($"{comparison.Hash[..16]}; {run.Skipped.Count} are left out, as they cannot be read or claim to be too large.");
        if (median.Runs.FirstOrDefault(one => one.Allocator == AllocatorKind.Pool)?.Statistics is { } pool)
        {
            yield return Invariant($"Pool: {pool.PoolHits:N0} of {pool.PoolHits + pool.PoolMisses:N0} requests above 1 MiB served from ")
                + Invariant($"idle memory, {pool.TrimmedBytes / 1e6:N0} MB given back by {pool.Trims:N0} trims.");
        }

        yield return Invariant($"The measurement took {elapsed:h\\:mm\\:ss}.");
        if (_kinds.Count > 1)
        {
            AllocatorKind fastest = _kinds.MaxBy(kind => Median(Values(s_photographs, Index(kind))));
            AllocatorKind smallest = _kinds.MinBy(kind => Median(Values(s_peakResident, Index(kind))));
            yield return Invariant(
                $"All are alive. {fastest.Name()} is the fastest, with {Median(Values(s_photographs, Index(fastest))):0.0} ")
                + Invariant($"photographs a second; {smallest.Name()} takes the least memory, ")
                + Invariant($"{Median(Values(s_peakResident, Index(smallest))):0} MB at its peak.");
        }
    }
}
