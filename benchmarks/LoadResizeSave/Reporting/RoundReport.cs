namespace LoadResizeSave.Reporting;

/// <summary>The result of many rounds: tables, charts over the rounds, and the memory over time of one that is usual.</summary>
internal sealed class RoundReport
{
    private readonly IReadOnlyList<Round> _rounds;
    private readonly JobOptions _options;
    private readonly Round _median;

    public RoundReport(IReadOnlyList<Round> rounds, JobOptions options)
    {
        _rounds = rounds;
        _options = options;
        _median = MedianRound.Find(rounds);
    }

    public string Title => string.Create(CultureInfo.InvariantCulture, $"Load, resize, save: {_rounds.Count} runs with each allocator");

    /// <summary>
    /// Returns <paramref name="document"/> with all that was found; <paramref name="elapsed"/> is how long it took to find.
    /// </summary>
    public ResultDocument Complete(ResultDocument document, TimeSpan elapsed)
    {
        RoundTables tables = new(_rounds);
        return document with
        {
            Tables = [.. tables.Create()],
            Notes = [.. Notes(tables, elapsed)],
            Charts =
            [
                Chart("CPU time of each run", "CPU time, seconds", RunFigure.Cpu),
                Chart("Peak resident memory of each run", "peak resident memory, MB", RunFigure.PeakResident),
            ],
            Pictures = [new ResultPicture(string.Create(CultureInfo.InvariantCulture, $"Memory over time, round {_median.Number}"), Path.GetFileName(_options.Chart))],
        };
    }

    public void SaveChart() => File.WriteAllText(_options.Chart, new MemoryChart(_median.Runs).Render());

    private ResultChart Chart(string title, string label, RunFigure figure) => new()
    {
        Title = title,
        Kind = ChartKind.Lines,
        X = "round",
        Y = label,
        Series =
        [
            .. _median.Runs.Select((run, i) => new ResultSeries(
                JobText.Name(run.Allocator), [.. _rounds.Select(round => new ResultPoint(round.Number, figure.Read(round.Runs[i])!.Value))])),
        ],
    };

    private IEnumerable<string> Notes(RoundTables tables, TimeSpan elapsed)
    {
        MeasuredRun run = _median.Runs[0];
        OutputComparison comparison = new(_median.Runs);
        return
        [
            Text($"One run takes {run.Pictures} pictures, {run.Megapixels:N0} megapixels, through loading, resizing to a width of {_options.Width} and saving, {_options.Parallelism} at once, in a process of its own."),
            "In each round every allocator runs once; the one that begins is another in each round.",
            $"A ratio is taken to {JobText.Name(tables.Reference)} in the same round, and the table has the median of these ratios. "
                + "Quartiles are nearest ranks.",
            "CPU time, page faults and GC MB are those of the work; the waiting for the trims is not counted. Peak RSS is the kernel's "
                + "own high-water mark of the whole process.",
            Text($"Final RSS is read {MeasuringChild.IdlePeriods} trim periods of {_options.TrimPeriod.TotalSeconds:0.##} seconds after the work, and after the release that follows them."),
            Text($"Memory over time is that of round {_median.Number}, the one nearest to the medians of time and peak."),
            Text($"All {run.Saved.Count} files are the same in all {_rounds.Count * _median.Runs.Count} runs, SHA-256 {comparison.Hashes[0][..16]}; {run.Skipped.Count} are left out, as they cannot be read or claim to be too large."),
            Text($"The measurement took {elapsed:h\\:mm\\:ss}."),
        ];
    }

    private static string Text(FormattableString text) => FormattableString.Invariant(text);
}
