namespace LoadResizeSave.Running;

/// <summary>The parent process: makes pictures where none were given, has everything measured, and reports.</summary>
internal abstract class JobMeasurement(JobOptions options, IAnsiConsole console)
{
    protected JobOptions Options => options;

    protected JobText Texts { get; } = new(console);

    /// <summary>Gets what must not be as it is.</summary>
    protected List<string> Failures { get; } = [];

    /// <summary>Runs it; returns the exit code, 0 where all allocators saved the same pictures and at least one.</summary>
    public async Task<int> RunAsync(Func<string, ResultDocument> newDocument, CancellationToken cancellationToken)
    {
        string? wrong = options.Input switch
        {
            null => null,
            string folder when !Directory.Exists(folder) => $"There is no folder {folder}.",
            string folder when IsWithin(folder, options.SavedFolder)
                => $"{folder} is where pictures are saved: they would be written over while they are read.",
            _ => null,
        };
        if (wrong is not null)
        {
            console.MarkupLineInterpolated($"[red]{wrong}[/]");
            return 1;
        }

        PictureCodecs codecs = new();
        SyntheticSet photographs = new(options.SyntheticCount, options.SyntheticMegapixels, codecs);
        _ = Directory.CreateDirectory(options.Output);
        _ = Directory.CreateDirectory(options.Work);
        Texts.WriteHeading(options, codecs.Jpeg is not null);
        string input = options.Input ?? photographs.FolderIn(options.Work);
        ProgressColumn[] columns =
        [
            new TaskDescriptionColumn { Alignment = Justify.Left }, new ProgressBarColumn(), new PercentageColumn(),
            new ElapsedTimeColumn(),
        ];
        await console.Progress().Columns(columns).StartAsync(async progress =>
        {
            if (options.Input is null)
            {
                ProgressTask task = progress.AddTask("photographs");
                photographs.Make(input, (done, total) => task.MaxValue(total).Value(done), cancellationToken);
                _ = task.Value(task.MaxValue);
            }

            if (options.Allocators.Count > 1)
            {
                await WarmUpAsync(input, progress.AddTask("warm-up"), cancellationToken);
            }

            await MeasureAsync(input, progress, cancellationToken);
        });

        foreach (string failure in Failures)
        {
            console.MarkupLineInterpolated($"[red]{failure}[/]");
        }

        return Report(newDocument) && Failures.Count == 0 ? 0 : 1;
    }

    protected abstract Task MeasureAsync(string input, ProgressContext progress, CancellationToken cancellationToken);

    /// <summary>Writes and shows what was found; false where that is not as it should be.</summary>
    protected abstract bool Report(Func<string, ResultDocument> newDocument);

    protected void Save(ResultDocument document)
    {
        string results = ResultFile.Save(document, options.Output);
        ResultConsole.Write(console, document);
        console.WriteLine($"results   {results}");
    }

    protected static void Show(JobProgress message, ProgressTask task)
    {
        // What follows the last picture is the wait for the trims: the bar says so by a share of its own.
        if (message.Total is { } total)
        {
            _ = task.MaxValue(Math.Max(1, total * 1.1));
        }

        _ = task.Value(message.Done ?? task.MaxValue);
    }

    private static bool IsWithin(string folder, string other) => Path.TrimEndingDirectorySeparator(folder) == other
        || folder.StartsWith(other + Path.DirectorySeparatorChar, StringComparison.Ordinal);

    // Once through the folder, uncounted: the first run reads the pictures and the runtime from disk, and shares the cores with what the
    // build left running.
    private async Task WarmUpAsync(string input, ProgressTask task, CancellationToken cancellationToken)
    {
        JobOptions once = options with { Repeat = 1, TrimPeriod = TimeSpan.FromMilliseconds(50) };
        try
        {
            _ = await JobChild.RunAsync(once, once.Allocators[0], input, cancellationToken, message => Show(message, task));
        }
        catch (ChildFailedException)
        {
            // The measurement will fail in the same way, and says so.
        }

        task.StopTask();
    }
}

/// <summary>One run with each allocator, with all details.</summary>
internal sealed class SingleMeasurement(JobOptions options, IAnsiConsole console) : JobMeasurement(options, console)
{
    private readonly List<MeasuredRun> _runs = [];

    protected override async Task MeasureAsync(string input, ProgressContext progress, CancellationToken cancellationToken)
    {
        List<ProgressTask> tasks = [.. Options.Allocators.Select(kind => progress.AddTask(JobText.Name(kind), autoStart: false))];
        foreach ((AllocatorKind kind, ProgressTask task) in Options.Allocators.Zip(tasks))
        {
            task.StartTask();
            try
            {
                _runs.Add(await JobChild.RunAsync(Options, kind, input, cancellationToken, message => Show(message, task)));
            }
            catch (ChildFailedException exception)
            {
                Failures.Add($"{JobText.Name(kind)}: {exception.Message}");
            }

            task.StopTask();
        }
    }

    protected override bool Report(Func<string, ResultDocument> newDocument)
    {
        if (_runs.Count == 0)
        {
            return false;
        }

        OutputComparison comparison = new(_runs);
        string results = Path.Combine(Options.Output, "results.json");
        JobReport report = new(DateTimeOffset.UtcNow, MachineText.Describe(ThisMachine.Describe()), Options, _runs);
        File.WriteAllText(results, JsonSerializer.Serialize(report, JobJson.Default.JobReport));
        File.WriteAllText(Options.Chart, new MemoryChart(_runs).Render());
        Texts.WriteRuns(_runs, comparison);
        Texts.WritePlaces(Options, results);
        return comparison.AreIdentical && _runs.All(run => run.Pictures > 0);
    }
}
