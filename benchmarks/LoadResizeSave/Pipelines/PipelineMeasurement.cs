namespace LoadResizeSave.Pipelines;

/// <summary>Runs every pipeline on the same photographs, without a limit and in containers; the runs take turns, each in its own process.</summary>
internal sealed class PipelineMeasurement(JobOptions options, int? containerMegabytes, MeasurementRun run)
{
    public const int UsualRuns = 5;

    private const int FewestJobs = 12;
    private const double SettleSeconds = 2;

    // A semaphore would let in one or two; as a job all may come at once.
    private static readonly int[] s_atOnce = [1, 2, 4, 16, 64];

    private readonly string _saved = Path.Combine(options.SavedFolder, "pipelines");

    private string PictureList => Path.Combine(_saved, "pictures.txt");

    public async Task<ResultDocument?> MeasureAsync(CancellationToken cancellationToken)
    {
        if (containerMegabytes is not null && MemoryCgroup.WhyUnavailable() is { } reason)
        {
            run.Failures.Add(reason);
            return null;
        }

        if (options.WhyNotToRead() is { } unreadable)
        {
            run.Failures.Add(unreadable);
            return null;
        }

        (IReadOnlyList<string> pictures, string origin) = GetPictures();
        if (pictures.Count == 0)
        {
            run.Failures.Add($"{options.Input} has no pictures that can be read.");
            return null;
        }

        run.Console.MarkupLineInterpolated($"[grey]{origin}, to a side of {Pipeline.Side}[/]");
        _ = Directory.CreateDirectory(_saved);
        await File.WriteAllLinesAsync(PictureList, pictures, cancellationToken);
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

            await RunAsync(cells, progress.AddTask("runs", maxValue: options.Runs * cells.Count), cancellationToken);
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
        ? (
            [.. PictureFolder.Find(input, options.Work, options.SavedFolder).Select(name => Path.Combine(input, name)).Where(IsReadable)],
            "a folder's pictures")
        : new ContainerPictures(null, ContainerOptions.WorkFolder).GetPhotographs();

    // By its header: what is no picture would count against all of them.
    private static bool IsReadable(string path)
    {
        try
        {
            using PictureFile file = PictureFile.Open(path);
            file.ReadHeader().Check(PicturePipeline.MaximumMegapixels);
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
            ContainedRun tried = await RunAsync(pipeline, limitMegabytes: 0, atOnce: 1, jobs: 1, settleSeconds: 0, cancellationToken);
            string? reason = tried.Count(JobEnd.Done) > 0
                ? WhyOther(pipeline, pictures[0])
                : tried.Jobs.FirstOrDefault()?.Reason ?? Invariant($"exit code {tried.ExitCode}. {tried.Errors}");
            if (reason is null)
            {
                yield return pipeline;
            }
            else
            {
                skipped.Add($"{pipeline.Title} is left out: {reason.ReplaceLineEndings(" ")}");
            }
        }
    }

    // What is compared has to be the same job. A library may turn the picture as its header says.
    private string? WhyOther(Pipeline pipeline, string picture)
    {
        try
        {
            PictureSize source = ReadSize(picture);
            PictureSize made = ReadSize(PipelineChild.TargetOf(Path.Combine(_saved, pipeline.Name), picture, job: 0));
            return Math.Max(made.Width, made.Height) == Math.Min(Pipeline.Side, Math.Max(source.Width, source.Height)) ? null
                : Invariant($"it made {made.Width} x {made.Height} pixels of {source.Width} x {source.Height}.");
        }
        catch (Exception exception) when (exception is UnreadablePictureException or IOException)
        {
            return $"it made no picture that can be read: {exception.Message}";
        }
    }

    private static PictureSize ReadSize(string path)
    {
        using PictureFile file = PictureFile.Open(path);
        return file.ReadHeader().Size;
    }

    private IEnumerable<SurvivalCell> CreateCells(Pipeline pipeline, int pictures)
    {
        yield return new SurvivalCell(pipeline, 0, options.Parallelism, Math.Max(FewestJobs, pictures), options.Runs);
        IEnumerable<int> atOnces = s_atOnce.Where(atOnce => pipeline.JobOf is null || atOnce >= PipelineReport.FewestAtOnce);
        foreach (int atOnce in run.IsQuick ? atOnces.Take(1) : atOnces)
        {
            if (containerMegabytes is { } limit)
            {
                yield return new SurvivalCell(pipeline, limit, atOnce, Math.Max(FewestJobs, atOnce), options.Runs);
            }
        }
    }

    private async Task RunAsync(List<SurvivalCell> cells, ProgressTask progress, CancellationToken cancellationToken)
    {
        for (int i = 0; i < options.Runs; i++)
        {
            foreach (SurvivalCell cell in SurvivalCell.InTurn(cells, i))
            {
                Pipeline pipeline = (Pipeline)cell.Way;
                double settle = cell.LimitMegabytes == 0 ? SettleSeconds : 0;
                ContainedRun one = await RunAsync(
                    pipeline, cell.LimitMegabytes, cell.AtOnce, cell.Jobs, settle, cancellationToken);
                cell.Add(one);
                progress.Increment(1);
                string where = cell.LimitMegabytes == 0 ? "at large" : Invariant($"in {cell.LimitMegabytes} MiB");
                run.Console.WriteLine(Invariant($"round {i + 1}, {cell.AtOnce,2} at once {where}, {pipeline.Title}: {one.Ending}, ")
                    + Invariant($"{one.Count(JobEnd.Done)} of {cell.Jobs} done"));
                one.WriteFaults(run.Console);
            }
        }
    }

    private Task<ContainedRun> RunAsync(
        Pipeline pipeline, int limitMegabytes, int atOnce, int jobs, double settleSeconds, CancellationToken cancellationToken)
        => ContainedProcess.RunAsync(
            PipelineChild.Task.Describe(new PipelineRequest(
                pipeline.Name, PictureList, Path.Combine(_saved, pipeline.Name), atOnce, jobs, limitMegabytes, settleSeconds)),
            limitMegabytes,
            cancellationToken: cancellationToken);
}
