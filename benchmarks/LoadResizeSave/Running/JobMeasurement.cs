namespace LoadResizeSave.Running;

/// <summary>The parent process: makes pictures where none were given, and has every allocator do the job, round by round.</summary>
internal sealed class JobMeasurement(JobOptions options, MeasurementRun run)
{
    private readonly List<Round> _rounds = [];

    /// <summary>
    /// Measures, and returns what was found; null where there is nothing to tell but why. All allocators must save the same pictures, and
    /// at least one.
    /// </summary>
    public async Task<ResultDocument?> MeasureAsync(CancellationToken cancellationToken)
    {
        Stopwatch clock = Stopwatch.StartNew();
        if (options.WhyNotToRead() is { } reason)
        {
            run.Failures.Add(reason);
            return null;
        }

        _ = Directory.CreateDirectory(options.Work);
        run.Console.MarkupLineInterpolated(
            $"[grey]{options.Input ?? "synthetic photographs"}, {options.Parallelism} at once, to a width of {JobOptions.Width}[/]");

        ProgressColumn[] columns =
        [
            new TaskDescriptionColumn { Alignment = Justify.Left }, new ProgressBarColumn(), new PercentageColumn(),
            new ElapsedTimeColumn(),
        ];
        await run.Console.Progress().Columns(columns).StartAsync(progress => MeasureAsync(progress, cancellationToken));
        if (run.Failures.Count > 0)
        {
            return null;
        }

        Round median = Round.NearestToMedians(_rounds);
        WriteSkipped(median);
        string chart = Path.Combine(run.Folder, RoundReport.ChartFile);
        _ = Directory.CreateDirectory(run.Folder);
        await File.WriteAllTextAsync(chart, new MemoryChart(median.Runs).Render(), cancellationToken);
        run.Console.WriteLine($"pictures  {options.SavedFolder}");
        run.Console.WriteLine($"chart     {chart}");
        string title = Invariant($"Load, resize, save: {_rounds.Count} {(_rounds.Count == 1 ? "run" : "runs")} with each allocator");
        return new RoundReport(_rounds, options).Complete(run.NewDocument(title), clock.Elapsed);
    }

    private async Task MeasureAsync(ProgressContext progress, CancellationToken cancellationToken)
    {
        SyntheticSet photographs = new(options.SyntheticCount, options.SyntheticMegapixels);
        string input = options.Input ?? photographs.FolderIn(options.Work);
        if (options.Input is null)
        {
            ProgressTask task = progress.AddTask("photographs");
            photographs.Make(input, (done, total) => task.MaxValue(total).Value(done), cancellationToken);
            _ = task.Value(task.MaxValue);
        }

        try
        {
            if (options.Allocators.Count > 1)
            {
                // Once through the folder, uncounted: the first run reads the pictures and the runtime from disk, and shares the cores
                // with what the build left running.
                JobOptions once = options with { Repeat = 1, TrimPeriod = TimeSpan.FromMilliseconds(50) };
                ProgressTask task = progress.AddTask("warm-up", maxValue: 1);
                _ = await JobChild.RunAsync(once, options.Allocators[0], input, task, cancellationToken);
            }

            for (int i = 1; i <= options.Runs && run.Failures.Count == 0; i++)
            {
                string name = options.Runs == 1 ? "measurement" : Invariant($"round {i} of {options.Runs}");
                Add(await MeasureAsync(i, input, progress.AddTask(name, maxValue: options.Allocators.Count), cancellationToken));
            }
        }
        catch (ChildFailedException exception)
        {
            // Medians over what is left would hide it.
            run.Failures.Add($"round {_rounds.Count + 1}: {exception.Message}");
        }
    }

    // Each round begins with the allocator after the one that the round before began with.
    private async Task<Round> MeasureAsync(int number, string input, ProgressTask task, CancellationToken cancellationToken)
    {
        MeasuredRun[] runs = new MeasuredRun[options.Allocators.Count];
        for (int turn = 0; turn < runs.Length; turn++)
        {
            int place = (number - 1 + turn) % runs.Length;
            runs[place] = await JobChild.RunAsync(options, options.Allocators[place], input, task, cancellationToken);
        }

        return new Round(number, runs);
    }

    // The same files in every round too: what was wrong once is not made good by 39 others.
    private void Add(Round round)
    {
        OutputComparison comparison = new([.. round.Runs, .. _rounds.Take(1).SelectMany(first => first.Runs.Take(1))]);
        if (!comparison.AreIdentical)
        {
            run.Failures.Add($"round {round.Number}: the outputs differ in {string.Join(", ", comparison.Differences.Take(10))}");
        }
        else if (round.Runs.Any(one => one.Pictures == 0))
        {
            run.Failures.Add($"round {round.Number}: nothing could be processed");
        }
        else if (round.Runs.FirstOrDefault(one => one.Pictures != round.Runs.Max(other => other.Pictures)) is { } less)
        {
            // Time and memory of less work would look better.
            string reason = less.Skipped.FirstOrDefault()?.Reason ?? "it skipped some";
            run.Failures.Add($"round {round.Number}: {less.Allocator.Name()} made only {less.Pictures} pictures: {reason}");
        }

        foreach (MeasuredRun one in round.Runs.Where(one => one.Statistics is { OutstandingAllocations: not 0 } or { Abandoned: not 0 }))
        {
            run.Failures.Add($"round {round.Number}, {one.Allocator.Name()}: memory was not given back: {one.Statistics}");
        }

        _rounds.Add(round);
    }

    private void WriteSkipped(Round round)
    {
        const int Shown = 10;
        List<SkippedPicture> skipped = [.. round.Runs.SelectMany(one => one.Skipped).DistinctBy(picture => picture.Name)];
        if (skipped.Count > 0)
        {
            run.Console.MarkupLineInterpolated($"[yellow]skipped: {skipped.Count} files[/]");
        }

        foreach (SkippedPicture picture in skipped.Take(Shown))
        {
            run.Console.MarkupLineInterpolated($"  {picture.Name}: {picture.Reason}");
        }

        if (skipped.Count > Shown)
        {
            run.Console.MarkupLineInterpolated($"  ... and {skipped.Count - Shown} more");
        }
    }
}
