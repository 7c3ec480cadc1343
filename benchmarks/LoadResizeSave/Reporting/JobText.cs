namespace LoadResizeSave.Reporting;

/// <summary>What the program prints of the job.</summary>
internal sealed class JobText(IAnsiConsole console)
{
    private const int ShownPictures = 10;

    private static readonly RunFigure[] s_figures =
    [
        RunFigure.Photographs, RunFigure.Megapixels, RunFigure.Cpu, RunFigure.System,
        RunFigure.PeakResident, RunFigure.FinalResident, RunFigure.PageFaults, RunFigure.Managed,
    ];

    public static string Name(AllocatorKind kind) => kind switch
    {
        AllocatorKind.Pool => "pool",
        AllocatorKind.Unpooled => "unpooled",
        AllocatorKind.ArrayPool => "ArrayPool",
        AllocatorKind.Budget => "pool with budget",
        _ => "GC arrays",
    };

    public void WriteHeading(JobOptions options, bool hasJpeg)
    {
        string times = options.Runs == 1 ? $"{options.Repeat} times" : $"{options.Repeat} times in each of {options.Runs} runs";
        console.MarkupLine("[bold]Load, resize, save[/]: the same pictures with each allocator, one process each");
        console.MarkupLineInterpolated($"[grey]{MachineText.Describe(ThisMachine.Describe())}[/]");
        string pictures = $"{options.Input ?? "synthetic photographs"}, {times}, {options.Parallelism} at once";
        console.MarkupLineInterpolated($"[grey]{pictures}, to a width of {JobOptions.Width}[/]");
        if (!hasJpeg)
        {
            console.MarkupLine("[yellow]libjpeg-turbo was not found (Debian: libturbojpeg0): JPEG files are skipped[/]");
        }
    }

    /// <summary>Writes a table with a line for each allocator, the best figure of each column in green, and what is to be said.</summary>
    public void WriteRuns(IReadOnlyList<MeasuredRun> runs, OutputComparison comparison)
    {
        Table table = new Table().Border(TableBorder.Rounded).AddColumn("allocator");
        foreach (RunFigure figure in s_figures)
        {
            _ = table.AddColumn(new TableColumn(figure.Unit is null ? figure.Name : $"{figure.Name}\n{figure.Unit}").RightAligned());
        }

        _ = table.AddColumn(new TableColumn("GCs of\nGen0/1/2").RightAligned());
        foreach (MeasuredRun run in runs)
        {
            _ = table.AddRow([
                Name(run.Allocator),
                .. s_figures.Select(figure => figure.Describe(run, runs)),
                Invariant($"{run.Cost.Gen0}/{run.Cost.Gen1}/{run.Cost.Gen2}"),
            ]);
        }

        console.Write(table);
        WritePool(runs);
        WriteSkipped(runs);
        WriteComparison(runs, comparison);
    }

    public void WriteSkipped(IReadOnlyList<MeasuredRun> runs)
    {
        List<SkippedPicture> skipped = [.. runs.SelectMany(run => run.Skipped).DistinctBy(picture => picture.Name)];
        if (skipped.Count > 0)
        {
            console.MarkupLineInterpolated($"[yellow]skipped: {skipped.Count} of {runs[0].Saved.Count + runs[0].Skipped.Count} files[/]");
        }

        foreach (SkippedPicture picture in skipped.Take(ShownPictures))
        {
            console.MarkupLineInterpolated($"  {picture.Name}: {picture.Reason}");
        }

        if (skipped.Count > ShownPictures)
        {
            console.MarkupLineInterpolated($"  ... and {skipped.Count - ShownPictures} more, see the results");
        }
    }

    public void WritePlaces(JobOptions options, string? results)
    {
        console.WriteLine($"pictures  {options.SavedFolder}");
        console.WriteLine($"chart     {options.Chart}");
        if (results is not null)
        {
            console.WriteLine($"results   {results}");
        }
    }

    private void WritePool(IReadOnlyList<MeasuredRun> runs)
    {
        if (runs.FirstOrDefault(run => run.Allocator == AllocatorKind.Pool)?.Statistics is { } pool)
        {
            long requests = pool.PoolHits + pool.PoolMisses;
            console.WriteLine(Invariant($"pool: {pool.PoolHits:N0} of {requests:N0} requests above 1 MiB served from idle memory, ")
                + Invariant($"{pool.TrimmedBytes / 1e6:N0} MB given back by {pool.Trims:N0} trims"));
            if (pool.OutstandingAllocations != 0 || pool.Abandoned != 0)
            {
                console.MarkupLineInterpolated(
                    $"[red]pool: {pool.OutstandingAllocations} allocations are outstanding, {pool.Abandoned} were abandoned[/]");
            }
        }
    }

    private void WriteComparison(IReadOnlyList<MeasuredRun> runs, OutputComparison comparison)
    {
        if (runs[0].Saved.Count == 0)
        {
            console.MarkupLine("[red]nothing could be processed[/]");
        }
        else if (runs.Count == 1)
        {
            console.MarkupLineInterpolated($"outputs: {runs[0].Saved.Count} files, SHA-256 {comparison.Hash[..16]}");
        }
        else if (comparison.AreIdentical)
        {
            console.MarkupLineInterpolated(
                $"[green]outputs identical[/]: {runs[0].Saved.Count} files with {runs.Count} allocators, SHA-256 {comparison.Hash[..16]}");
        }
        else
        {
            string names = string.Join(", ", comparison.Differences.Take(ShownPictures));
            console.MarkupLineInterpolated($"[red]outputs differ[/] in {comparison.Differences.Count} files: {names}");
        }
    }
}
