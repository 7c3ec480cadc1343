namespace LoadResizeSave.Running;

/// <summary>One run of every allocator, close together in time, so that what else the machine does falls on all of them.</summary>
/// <param name="Runs">The runs, in the order in which the user named the allocators.</param>
internal sealed record Round(int Number, IReadOnlyList<MeasuredRun> Runs)
{
    /// <summary>Returns the round whose times and peaks, those of all allocators together, are nearest to their medians.</summary>
    public static Round Median(IReadOnlyList<Round> rounds)
    {
        double[] distances = new double[rounds.Count];
        for (int i = 0; i < rounds[0].Runs.Count; i++)
        {
            foreach (RunFigure figure in (RunFigure[])[RunFigure.Wall, RunFigure.PeakResident])
            {
                double[] values = [.. rounds.Select(round => figure.Read(round.Runs[i])!.Value)];
                double median = Statistics.Median(values);
                distances = [.. distances.Zip(values, (distance, value) => distance + Math.Abs((value / median) - 1))];
            }
        }

        return rounds[Array.IndexOf(distances, distances.Min())];
    }
}

/// <summary>Many rounds with one run of each allocator: tables, charts over the rounds, and the memory over time of a usual one.</summary>
internal sealed class RoundMeasurement(JobOptions options, IAnsiConsole console) : JobMeasurement(options, console)
{
    private readonly Stopwatch _clock = Stopwatch.StartNew();
    private readonly List<Round> _rounds = [];

    /// <summary>Returns <paramref name="document"/> with all that the rounds show.</summary>
    public static ResultDocument Complete(ResultDocument document, IReadOnlyList<Round> rounds, JobOptions options, TimeSpan elapsed)
    {
        RoundTables tables = new(rounds);
        Round median = Round.Median(rounds);
        return document with
        {
            Tables = [.. tables.Create()],
            Notes = [.. Notes(rounds, median, options, tables, elapsed)],
            Charts =
            [
                Chart("CPU time of each run", "CPU time, seconds", rounds, RunFigure.Cpu),
                Chart("Peak resident memory of each run", "peak resident memory, MB", rounds, RunFigure.PeakResident),
            ],
            Pictures = [new ResultPicture(Invariant($"Memory over time, round {median.Number}"), Path.GetFileName(options.Chart))],
        };
    }

    protected override async Task MeasureAsync(string input, ProgressContext progress, CancellationToken cancellationToken)
    {
        IReadOnlyList<AllocatorKind> kinds = Options.Allocators;
        ProgressTask task = progress.AddTask("rounds", maxValue: Options.Runs * kinds.Count);
        for (int i = 0; i < Options.Runs && Failures.Count == 0; i++)
        {
            task.Description = $"round {i + 1} of {Options.Runs}";
            MeasuredRun[] runs = new MeasuredRun[kinds.Count];
            for (int turn = 0; turn < kinds.Count; turn++)
            {
                // Each round begins with the allocator after the one that the round before began with.
                int place = (i + turn) % kinds.Count;
                try
                {
                    runs[place] = await JobChild.RunAsync(Options, kinds[place], input, cancellationToken);
                }
                catch (ChildFailedException exception)
                {
                    // Medians over what is left would hide it.
                    Failures.Add($"round {i + 1}, {JobText.Name(kinds[place])}: {exception.Message}");
                    return;
                }

                task.Increment(1);
            }

            Add(new Round(i + 1, runs));
        }
    }

    protected override bool Report(Func<string, ResultDocument> newDocument)
    {
        if (Failures.Count > 0)
        {
            return false;
        }

        string title = Invariant($"Load, resize, save: {_rounds.Count} runs with each allocator");
        Save(Complete(newDocument(title), _rounds, Options, _clock.Elapsed));
        File.WriteAllText(Options.Chart, new MemoryChart(Round.Median(_rounds).Runs).Render());
        Texts.WriteSkipped(_rounds[0].Runs);
        Texts.WritePlaces(Options, null);
        return true;
    }

    // The same files in every round too: what was wrong once is not made good by 39 others.
    private void Add(Round round)
    {
        OutputComparison comparison = new([.. round.Runs, .. _rounds.Take(1).SelectMany(first => first.Runs.Take(1))]);
        if (!comparison.AreIdentical)
        {
            Failures.Add($"round {round.Number}: the outputs differ in {string.Join(", ", comparison.Differences.Take(10))}");
        }
        else if (round.Runs.Any(run => run.Pictures == 0))
        {
            Failures.Add($"round {round.Number}: nothing could be processed");
        }

        _rounds.Add(round);
    }

    private static ResultChart Chart(string title, string label, IReadOnlyList<Round> rounds, RunFigure figure) => new()
    {
        Title = title,
        Kind = ChartKind.Lines,
        X = "round",
        Y = label,
        Series =
        [
            .. rounds[0].Runs.Select((run, i) => new ResultSeries(
                JobText.Name(run.Allocator),
                [
                    .. rounds.Select(round => new ResultPoint(round.Number, figure.Read(round.Runs[i])!.Value)),
                ])),
        ],
    };

    private static IEnumerable<string> Notes(
        IReadOnlyList<Round> rounds, Round median, JobOptions options, RoundTables tables, TimeSpan elapsed)
    {
        MeasuredRun run = median.Runs[0];
        OutputComparison comparison = new(median.Runs);
        yield return Invariant(
            $"One run takes {run.Pictures} pictures, {run.Megapixels:N0} megapixels, through loading, resizing to a width of ")
            + Invariant($"{JobOptions.Width} and saving, {options.Parallelism} at once, in a process of its own.");
        yield return "In each round every allocator runs once; the one that begins is another in each round.";
        yield return $"A ratio is taken to {JobText.Name(tables.Reference)} in the same round, and the table has the median of these "
            + "ratios. Quartiles are nearest ranks.";
        yield return "CPU time, page faults and GC MB are those of the work; the waiting for the trims is not counted. Peak RSS is the "
            + "kernel's own high-water mark of the whole process.";
        yield return Invariant(
            $"Final RSS is read {JobChild.IdlePeriods} trim periods of {options.TrimPeriod.TotalSeconds:0.##} seconds after ")
            + "the work, and after the release that follows them.";
        yield return Invariant($"Memory over time is that of round {median.Number}, the one nearest to the medians of time and peak.");
        yield return Invariant($"All {run.Saved.Count} files are the same in all {rounds.Count * median.Runs.Count} runs, SHA-256 ")
            + Invariant($"{comparison.Hash[..16]}; {run.Skipped.Count} are left out, as they cannot be read or claim to be too large.");
        yield return Invariant($"The measurement took {elapsed:h\\:mm\\:ss}.");
    }

}
