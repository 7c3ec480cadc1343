using LoadResizeSave.Containers;

namespace LoadResizeSave.Survival;

/// <summary>Runs all cells, one run of each in turn, so that what else the machine does meets all of them alike.</summary>
internal sealed class SurvivalMeasurement(SurvivalLoad load, IAnsiConsole console)
{
    private readonly Dictionary<string, string> _hashes = new(StringComparer.Ordinal);
    private readonly List<string> _failures = [];

    /// <summary>Measures, and saves the pictures of the document in <paramref name="folder"/>.</summary>
    public async Task<(ResultDocument Document, IReadOnlyList<string> Failures)> RunAsync(
        ResultDocument empty, string folder, CancellationToken cancellationToken)
    {
        (IReadOnlyList<string> pictures, string origin) = new ContainerPictures(load.Input, ContainerOptions.WorkFolder).GetPhotographs();
        console.MarkupLineInterpolated($"[grey]{origin}[/]");
        IReadOnlyList<SurvivalCell> cells = load.CreateCells();

        // Uncounted: the first process reads the photographs and the runtime from disk.
        _ = await ContainedProcess.RunAsync(
            Options(cells[0], pictures) with { Workers = 1, Jobs = pictures.Count },
            SurvivalLoad.ReferenceMegabytes,
            cancellationToken: cancellationToken);
        await RunAsync(cells, pictures, cancellationToken);

        SurvivalReport report = new(load, cells, origin);
        ResultDocument document = report.Complete(empty with { Title = SurvivalReport.Title });
        _ = Directory.CreateDirectory(folder);
        foreach (ResultPicture picture in document.Pictures)
        {
            await File.WriteAllTextAsync(Path.Combine(folder, picture.File), report.DrawChart());
        }

        return (document, _failures);
    }

    private async Task RunAsync(IReadOnlyList<SurvivalCell> cells, IReadOnlyList<string> pictures, CancellationToken cancellationToken)
    {
        Stopwatch clock = Stopwatch.StartNew();
        for (int i = 0; i < cells.Max(cell => cell.WantedRuns); i++)
        {
            foreach (SurvivalCell cell in cells.Where(cell => i < cell.WantedRuns))
            {
                if (clock.Elapsed > load.Time)
                {
                    console.MarkupLineInterpolated(
                        $"[yellow]{load.Time.TotalMinutes} minutes are over in round {i + 1}: what was not run is left out.[/]");
                    return;
                }

                cell.Add(await RunAsync(cell, pictures, i, cancellationToken));
            }
        }
    }

    private async Task<ContainedRun> RunAsync(
        SurvivalCell cell, IReadOnlyList<string> pictures, int index, CancellationToken cancellationToken)
    {
        ContainedRun run = await ContainedProcess.RunAsync(
            Options(cell, pictures), cell.LimitMegabytes, cancellationToken: cancellationToken);
        string name = FormattableString.Invariant(
            $"{cell.Way.Name,-10} {cell.LimitMegabytes,4} MiB {cell.AtOnce,2} at once, run {index + 1}");
        console.WriteLine($"{name}: {run.Ending}, {run.Describe()}");
        Check(name, cell, run);
        return run;
    }

    private ContainedOptions Options(SurvivalCell cell, IReadOnlyList<string> pictures) => new()
    {
        Way = cell.Way.Name,
        LimitMegabytes = cell.LimitMegabytes,
        Workers = cell.AtOnce,
        Jobs = cell.Jobs,
        Pictures = pictures,
        KeepsMalloc = load.KeepsMalloc,
        Explains = load.Explains,
    };

    // What the claims say is reported, and is no failure of the program. Memory of others may end the process in any way: that is the
    // point.
    private void Check(string name, SurvivalCell cell, ContainedRun run)
    {
        if (run.Ending is RunEnding.Crashed or RunEnding.Hung)
        {
            string how = $"{run.Ending} with exit code {run.ExitCode}. {run.Errors.Split('\n')[0]}";
            console.MarkupLineInterpolated($"[yellow]  {how}[/]");
            if (cell.Way.IsOfLibrary)
            {
                _failures.Add($"{name}: {how}");
            }
        }

        if (run.Ending == RunEnding.Finished && run.Jobs.Count != cell.Jobs)
        {
            _failures.Add($"{name}: of {cell.Jobs} jobs {run.Jobs.Count} were heard of");
        }

        IEnumerable<(string Picture, string? Sha256)> done = run.Jobs.Where(job => job.Sha256 is not null).Select(
            job => (job.Picture, job.Sha256)).Distinct();
        foreach ((string picture, string? hash) in done)
        {
            if (!_hashes.TryAdd(picture, hash!) && _hashes[picture] != hash)
            {
                _failures.Add($"{name}: {picture} came out different: memory was overwritten");
            }
        }

        foreach (IGrouping<string?, JobMessage> failed in run.Jobs.Where(job => job.End == JobEnd.Failed).GroupBy(job => job.Reason))
        {
            console.MarkupLineInterpolated($"[yellow]  {failed.Count()} times: {failed.Key}[/]");
        }

        if (cell.Way.Claim is { MayFail: false }
            && run.Jobs.FirstOrDefault(job => job.End is JobEnd.Refused or JobEnd.RefusedForGood) is { } refused)
        {
            console.MarkupLineInterpolated($"[yellow]  refused: {refused.Reason}[/]");
        }

        if (run.Readings.Count > 0)
        {
            console.WriteLine($"  {run.Readings.MaxBy(reading => reading.Charged).Describe()}");
        }
    }
}
