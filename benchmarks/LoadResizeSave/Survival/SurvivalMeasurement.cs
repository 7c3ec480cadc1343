namespace LoadResizeSave.Survival;

/// <summary>The command that asks which ways of having memory survive in a container.</summary>
internal sealed class SurvivalMeasurement
{
    // Enough that what the first ones cost, code that is compiled for instance, is a small part.
    private const int FewestJobs = 24;
    private const int QuickJobs = 16;

    private static readonly Option<string?> s_input = ContainerOptions.Input();
    private static readonly Option<string[]> s_ways = ContainerOptions.Ways(ContainerOptions.All);
    private static readonly Option<int[]> s_limits = ContainerOptions.Numbers(
        "--limits", "MiB of the containers.", [256, 350, 512], least: 64);
    private static readonly Option<int[]> s_atOnce = ContainerOptions.Numbers("--at-once", "Jobs at once.", [2, 4, 16, 64]);
    private static readonly Option<int> s_runs = ContainerOptions.Number("--runs", "Runs of each cell.", 3);
    private static readonly Option<int> s_claimRuns = ContainerOptions.Number("--claim-runs", "Runs of this library's ways.", 20);
    private static readonly Option<int> s_bursts = ContainerOptions.Number(
        "--bursts", "Bursts of a run: the next begins when all jobs of one have ended.", 1);
    private static readonly Option<int[]> s_budgets = ContainerOptions.Numbers(
        "--budgets", "MiB of budgets, for the ways where jobs reserve; 0 for none.", [0], least: 0);
    private static readonly Option<double> s_minutes = ContainerOptions.Minutes();
    private static readonly Option<bool> s_explain = new("--explain")
    {
        Description = "Report for each run who held its memory when most was charged.",
    };

    private readonly MeasurementRun _run;
    private readonly IReadOnlyList<MemoryWay> _ways;
    private readonly IReadOnlyList<int> _limits;
    private readonly IReadOnlyList<int> _atOnce;
    private readonly Dictionary<string, string> _hashes = new(StringComparer.Ordinal);
    private string? _cut;

    private SurvivalMeasurement(MeasurementRun run)
    {
        _run = run;
        _ways =
        [
            .. from budget in run.Get(s_budgets)
               from way in ContainerOptions.GetWays(run.Get(s_ways))
               where budget == 0 || way.Reserves != JobReservation.None
               select budget == 0 ? way : way.WithBudget(budget)];
        _limits = run.Get(s_limits, [350]);
        _atOnce = run.Get(s_atOnce, [16]);
    }

    public static Command Create() => new Command(
        "survive", "Makes photographs smaller in memory cgroups, with each way of having memory, and says who was killed.")
    {
        s_input, s_ways, s_limits, s_atOnce, s_runs, s_claimRuns, s_bursts, s_budgets, s_minutes, s_explain,
    }.MeasuresContainers(SurvivalReport.Program, (run, cancellationToken) => new SurvivalMeasurement(run).MeasureAsync(cancellationToken));

    private async Task<ResultDocument> MeasureAsync(CancellationToken cancellationToken)
    {
        (IReadOnlyList<string> pictures, string origin)
            = new ContainerPictures(_run.Get(s_input), ContainerOptions.WorkFolder).GetPhotographs();
        _run.Console.MarkupLineInterpolated($"[grey]{origin}[/]");
        List<SurvivalCell> cells = [.. CreateCells()];

        // Uncounted: the first process reads the photographs and the runtime from disk.
        ContainedOptions first = Options(cells[0], pictures) with { Workers = 1, Jobs = pictures.Count };
        _ = await ContainedProcess.RunAsync(
            ContainedJobs.Task.Describe(first), SurvivalReport.ReferenceMegabytes, cancellationToken: cancellationToken);
        await RunAsync(cells, pictures, cancellationToken);

        SurvivalReport report = new(_limits, _atOnce, cells, origin, _cut);
        ResultDocument document = report.Complete(_run.NewDocument(SurvivalReport.Title));
        _ = Directory.CreateDirectory(_run.Folder);
        foreach (ResultPicture picture in document.Pictures)
        {
            await File.WriteAllTextAsync(Path.Combine(_run.Folder, picture.File), report.DrawChart(), cancellationToken);
        }

        return document;
    }

    private IEnumerable<SurvivalCell> CreateCells() =>
    [
        .. from atOnce in _atOnce
           select CreateCell(MemoryWay.Get("default"), SurvivalReport.ReferenceMegabytes, atOnce),
        .. from limit in _limits
           from atOnce in _atOnce
           from way in _ways
           select CreateCell(way, limit, atOnce),
    ];

    // Of the library's ways, the reference among them, there are more runs: speeds are compared over the same time.
    private SurvivalCell CreateCell(MemoryWay way, int limit, int atOnce)
    {
        int runs = _run.Get(s_runs, 1);
        return new SurvivalCell(
            way,
            limit,
            atOnce,
            _run.IsQuick ? QuickJobs : Math.Max(FewestJobs, atOnce * _run.Get(s_bursts, 1)),
            way.IsOfLibrary ? Math.Max(runs, _run.Get(s_claimRuns, 1)) : runs,
            _run.Get(s_bursts, 1));
    }

    // One run of each cell in turn, so that what else the machine does meets all of them alike.
    private async Task RunAsync(IReadOnlyList<SurvivalCell> cells, IReadOnlyList<string> pictures, CancellationToken cancellationToken)
    {
        Stopwatch clock = Stopwatch.StartNew();
        for (int i = 0; i < cells.Max(cell => cell.WantedRuns); i++)
        {
            foreach (SurvivalCell cell in SurvivalCell.InTurn(cells, i).Where(cell => i < cell.WantedRuns))
            {
                if (clock.Elapsed.TotalMinutes > _run.Get(s_minutes))
                {
                    _cut = Invariant($"The time was over in round {i + 1}: the runs after that are missing.");
                    _run.Console.MarkupLineInterpolated($"[yellow]{_cut}[/]");
                    return;
                }

                ContainedRun run = await ContainedProcess.RunAsync(
                    ContainedJobs.Task.Describe(Options(cell, pictures)),
                    cell.LimitMegabytes,
                    cancellationToken: cancellationToken);
                cell.Add(run);
                string name = Invariant($"{cell.Way.Name,-10} {cell.LimitMegabytes,4} MiB {cell.AtOnce,2} at once, run {i + 1}");
                _run.Console.WriteLine($"{name}: {run.Ending}, {run.Describe()}");
                Check(name, cell, run);
            }
        }
    }

    private ContainedOptions Options(SurvivalCell cell, IReadOnlyList<string> pictures) => new()
    {
        Way = cell.Way.Name,
        LimitMegabytes = cell.LimitMegabytes,
        Workers = cell.AtOnce,
        Jobs = cell.Jobs,
        Bursts = cell.Bursts,
        Pictures = pictures,
        Explains = _run.Get(s_explain),
    };

    // What the claims say is reported, and is no failure of the program. Memory of others may end the process in any way: that is the
    // point.
    private void Check(string name, SurvivalCell cell, ContainedRun run)
    {
        run.WriteFaults(_run.Console);
        if (run.Ending is RunEnding.Crashed or RunEnding.Hung && cell.Way.IsOfLibrary)
        {
            _run.Failures.Add($"{name}: {run.Ending} with exit code {run.ExitCode}");
        }

        if (run.Ending == RunEnding.Finished && run.Jobs.Count != cell.Jobs)
        {
            _run.Failures.Add($"{name}: of {cell.Jobs} jobs {run.Jobs.Count} reported their end");
        }

        foreach (JobMessage job in run.Jobs.Where(job => job.Sha256 is not null))
        {
            if (!_hashes.TryAdd(job.Picture, job.Sha256!) && _hashes[job.Picture] != job.Sha256)
            {
                _run.Failures.Add($"{name}: {job.Picture} came out different: memory was overwritten");
            }
        }

        if (cell.Way.Reserves != JobReservation.None
            && run.Jobs.FirstOrDefault(job => job.End is JobEnd.Refused or JobEnd.RefusedForGood) is { } refused)
        {
            _run.Console.MarkupLineInterpolated($"[yellow]  refused in burst {refused.Burst + 1}: {refused.Reason}[/]");
        }

        if (run.Most is { } reading)
        {
            _run.Console.WriteLine($"  {reading.Describe()}");
        }
    }
}
