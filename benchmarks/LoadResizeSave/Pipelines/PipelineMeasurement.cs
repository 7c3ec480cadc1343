namespace LoadResizeSave.Pipelines;

/// <summary>Has every pipeline make the same pictures, at large and in containers: in turn, each run a process of its own.</summary>
internal sealed class PipelineMeasurement(JobOptions options, int? containerMegabytes, MeasurementRun run)
{
    public const int UsualRuns = 5;

    private const int FewestJobs = 12;
    private const double SettleSeconds = 2;

    // One and two at once are what a semaphore would let in.
    private static readonly int[] s_atOnce = [1, 2, 4, 16, 64];

    private readonly PictureCodecs _codecs = new(useSkia: true);
    private readonly string _saved = Path.Combine(options.SavedFolder, "pipelines");

    public async Task<ResultDocument?> MeasureAsync(CancellationToken cancellationToken)
    {
        if (containerMegabytes is not null && MemoryCgroup.WhyUnavailable() is { } reason)
        {
            run.Failures.Add(reason);
            return null;
        }

        (IReadOnlyList<string> pictures, string origin) = GetPictures();
        if (pictures.Count == 0)
        {
            run.Failures.Add($"{options.Input} has no pictures that can be read.");
            return null;
        }

        run.Console.MarkupLineInterpolated($"[grey]{origin}, to a side of {Pipeline.Side}[/]");
        List<SurvivalCell> cells = [];
        List<string> skipped = [];
        ProgressColumn[] columns =
        [
            new TaskDescriptionColumn { Alignment = Justify.Left }, new ProgressBarColumn(), new PercentageColumn(),
            new RemainingTimeColumn(),
        ];
        await run.Console.Progress().Columns(columns).StartAsync(async progress =>
        {
            await foreach (Pipeline pipeline in FindAsync(pictures, skipped, cancellationToken))
            {
                cells.AddRange(CreateCells(pipeline, pictures.Count));
            }

            await RunAsync(cells, pictures, progress.AddTask("runs", maxValue: options.Runs * cells.Count), cancellationToken);
        });
        if (cells.Count == 0)
        {
            skipped.ForEach(run.Failures.Add);
            return null;
        }

        skipped.ForEach(line => run.Console.MarkupLineInterpolated($"[yellow]{line}[/]"));
        PipelineReport report = new(cells, [origin + ".", .. skipped]);
        _ = Directory.CreateDirectory(run.Folder);
        if (report.DrawChart() is { } chart)
        {
            await File.WriteAllTextAsync(Path.Combine(run.Folder, PipelineReport.ChartFile), chart, cancellationToken);
        }

        return report.Complete(MeasurementRun.NewDocument(PipelineReport.Program, PipelineReport.Title, run.Parsed));
    }

    private (IReadOnlyList<string> Pictures, string Origin) GetPictures() => options.Input is { } input
        ? ([.. PictureFolder.Find(input, options.Work).Select(name => Path.Combine(input, name)).Where(IsReadable)], "a folder's pictures")
        : new ContainerPictures(null, ContainerOptions.WorkFolder, _codecs).GetPhotographs();

    // By its header: what is no picture would count against all of them.
    private bool IsReadable(string path)
    {
        try
        {
            using PictureFile file = PictureFile.Open(path);
            file.ReadHeader(_codecs).Check(PicturePipeline.MaximumMegapixels);
            return true;
        }
        catch (Exception exception) when (exception is UnreadablePictureException or IOException or UnauthorizedAccessException)
        {
            return false;
        }
    }

    // Uncounted: it reads the pictures and the libraries from disk, and shows which library is missing here.
    private async IAsyncEnumerable<Pipeline> FindAsync(
        IReadOnlyList<string> pictures, List<string> skipped, [EnumeratorCancellation] CancellationToken cancellationToken)
    {
        foreach (Pipeline pipeline in Pipeline.All)
        {
            ContainedRun tried = await RunAtLargeAsync(pipeline, pictures, atOnce: 1, jobs: 1, settleSeconds: 0, cancellationToken);
            if (tried.Count(JobEnd.Done) > 0)
            {
                yield return pipeline;
            }
            else
            {
                string reason = tried.Jobs.FirstOrDefault()?.Reason ?? Invariant($"exit code {tried.ExitCode}. {tried.Errors}");
                skipped.Add($"{pipeline.Title} is left out: {reason.ReplaceLineEndings(" ")}");
            }
        }
    }

    private IEnumerable<SurvivalCell> CreateCells(Pipeline pipeline, int pictures)
    {
        yield return new SurvivalCell(pipeline, 0, options.Parallelism, Math.Max(FewestJobs, pictures), options.Runs);
        foreach (int atOnce in run.IsQuick ? s_atOnce.Take(1) : s_atOnce)
        {
            if (containerMegabytes is { } limit)
            {
                yield return new SurvivalCell(pipeline, limit, atOnce, Math.Max(FewestJobs, atOnce), options.Runs);
            }
        }
    }

    private async Task RunAsync(
        List<SurvivalCell> cells, IReadOnlyList<string> pictures, ProgressTask progress, CancellationToken cancellationToken)
    {
        for (int i = 0; i < options.Runs; i++)
        {
            foreach (SurvivalCell cell in SurvivalCell.InTurn(cells, i))
            {
                Pipeline pipeline = (Pipeline)cell.Way;
                ContainedRun one = cell.LimitMegabytes == 0
                    ? await RunAtLargeAsync(pipeline, pictures, cell.AtOnce, cell.Jobs, SettleSeconds, cancellationToken)
                    : await ContainedProcess.RunAsync(
                        Describe(pipeline, pictures, cell.AtOnce, cell.Jobs, cell.LimitMegabytes, settleSeconds: 0),
                        cell.LimitMegabytes,
                        cancellationToken: cancellationToken);
                cell.Add(one);
                progress.Increment(1);
                string where = cell.LimitMegabytes == 0 ? "at large" : Invariant($"in {cell.LimitMegabytes} MiB");
                run.Console.WriteLine(Invariant($"round {i + 1}, {cell.AtOnce,2} at once {where}, {pipeline.Title}: {one.Ending}, ")
                    + Invariant($"{one.Count(JobEnd.Done)} of {cell.Jobs} done"));
                one.WriteFaults(run.Console);
            }
        }
    }

    private async Task<ContainedRun> RunAtLargeAsync(
        Pipeline pipeline, IReadOnlyList<string> pictures, int atOnce, int jobs, double settleSeconds, CancellationToken cancellationToken)
    {
        ProcessStartInfo start = Describe(pipeline, pictures, atOnce, jobs, limitMegabytes: null, settleSeconds);
        ChildProgram.ForgetMemorySettings(start);
        using Process child = ChildProgram.Start(start);
        List<JobMessage> ended = [];
        RunMessage? result = null;
        ChildEnd end = await PipelineChild.Task.FollowAsync(
            child,
            message =>
            {
                result ??= message.Run;
                ended.AddRange(message.Job is { } job ? [job] : []);
            },
            cancellationToken);
        cancellationToken.ThrowIfCancellationRequested();
        return new ContainedRun
        {
            Ending = ContainedRun.Judge(end.ExitCode, kills: 0, hasHung: false, result is not null),
            ExitCode = end.ExitCode,
            Jobs = ended,
            Run = result,
            Samples = [],
            Errors = end.Errors,
        };
    }

    private ProcessStartInfo Describe(
        Pipeline pipeline, IReadOnlyList<string> pictures, int atOnce, int jobs, int? limitMegabytes, double settleSeconds)
        => PipelineChild.Task.Describe(new PipelineRequest(
            pipeline.Name, pictures, Path.Combine(_saved, pipeline.Name), atOnce, jobs, limitMegabytes, settleSeconds));
}
