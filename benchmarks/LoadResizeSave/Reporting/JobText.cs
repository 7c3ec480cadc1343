namespace LoadResizeSave.Reporting;

/// <summary>What the program says around the table.</summary>
internal sealed class JobText(IAnsiConsole console)
{
    private const int ShownPictures = 10;

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
        console.MarkupLine("[bold]Load, resize, save[/]: the same pictures with each allocator, one process each");
        console.MarkupLineInterpolated($"[grey]{MachineText.Describe(ThisMachine.Describe())}[/]");
        console.MarkupLineInterpolated(
            $"[grey]{options.Input ?? "synthetic photographs"}, {Times(options)}, {options.Parallelism} at once, to a width of {options.Width}[/]");
        if (!hasJpeg)
        {
            console.MarkupLine(options.UseLibjpeg
                ? "[yellow]libjpeg-turbo was not found (Debian: libturbojpeg0): JPEG files are skipped[/]"
                : "[yellow]libjpeg-turbo is not used: JPEG files are skipped[/]");
        }
    }

    private static string Times(JobOptions options)
        => options.Runs == 1 ? $"{options.Repeat} times" : $"{options.Repeat} times in each of {options.Runs} runs";

    public void WritePoolLine(IReadOnlyList<MeasuredRun> runs)
    {
        if (runs.FirstOrDefault(run => run.Allocator == AllocatorKind.Pool)?.Statistics is { } pool)
        {
            console.MarkupLineInterpolated(
                $"pool: {pool.PoolHits:N0} of {pool.PoolHits + pool.PoolMisses:N0} requests above 1 MiB served from idle memory, {pool.TrimmedBytes / 1e6:N0} MB given back by {pool.Trims:N0} trims");
            if (pool.OutstandingAllocations != 0 || pool.Abandoned != 0)
            {
                console.MarkupLineInterpolated($"[red]pool: {pool.OutstandingAllocations} allocations are still out, {pool.Abandoned} were abandoned[/]");
            }
        }
    }

    public void WriteSkipped(IReadOnlyList<MeasuredRun> runs)
    {
        List<SkippedPicture> skipped = [.. runs.SelectMany(run => run.Skipped).DistinctBy(picture => picture.Name)];
        if (skipped.Count == 0)
        {
            return;
        }

        console.MarkupLineInterpolated($"[yellow]skipped: {skipped.Count} of {runs[0].Saved.Count + runs[0].Skipped.Count} files[/]");
        foreach (SkippedPicture picture in skipped.Take(ShownPictures))
        {
            console.MarkupLineInterpolated($"  {picture.Name}: {picture.Reason}");
        }

        if (skipped.Count > ShownPictures)
        {
            console.MarkupLineInterpolated($"  ... and {skipped.Count - ShownPictures} more, see the results");
        }
    }

    public void WriteComparison(IReadOnlyList<MeasuredRun> runs, OutputComparison comparison)
    {
        if (runs[0].Saved.Count == 0)
        {
            console.MarkupLine("[red]nothing could be processed[/]");
        }
        else if (runs.Count == 1)
        {
            console.MarkupLineInterpolated($"outputs: {runs[0].Saved.Count} files, SHA-256 {comparison.Hashes[0][..16]}");
        }
        else if (comparison.AreIdentical)
        {
            console.MarkupLineInterpolated(
                $"[green]outputs identical[/]: {runs[0].Saved.Count} files with {runs.Count} allocators, SHA-256 {comparison.Hashes[0][..16]}");
        }
        else
        {
            string names = string.Join(", ", comparison.Differences.Take(ShownPictures));
            console.MarkupLineInterpolated($"[red]outputs differ[/] in {comparison.Differences.Count} files: {names}");
        }
    }

    public void WritePlaces(string saved, string chart, string results)
    {
        console.WriteLine($"pictures  {saved}");
        console.WriteLine($"chart     {chart}");
        console.WriteLine($"results   {results}");
    }
}
