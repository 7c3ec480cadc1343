namespace LoadResizeSave.Running;

/// <summary>The root command: the job itself, with the allocators side by side.</summary>
internal static class JobCommand
{
    private const string All = "all";

    private static readonly Option<string?> s_input = new("--input", "-i")
    {
        Description = "Folder of pictures, searched with its subfolders. Without it a set of large synthetic photographs is made first.",
    };

    private static readonly Option<string[]> s_allocator = new Option<string[]>("--allocator", "-a")
    {
        Description = "Allocators to compare.",
        AllowMultipleArgumentsPerToken = true,
        DefaultValueFactory = _ => [All],
    }.AcceptOnlyFromAmong([All, .. Enum.GetValues<AllocatorKind>().Select(kind => kind.ToString().ToLowerInvariant())]);

    private static readonly Option<int> s_runs = new Option<int>("--runs")
    {
        Description = "Runs of each allocator. With more than one they take turns, and the result are medians.",
        DefaultValueFactory = _ => 1,
    }.AtLeast(1);

    private static readonly Option<int> s_parallelism = new Option<int>("--parallelism", "-p")
    {
        Description = "Pictures worked on at once.",
        DefaultValueFactory = _ => Environment.ProcessorCount,
    }.AtLeast(1);

    private static readonly Option<int> s_repeat = new Option<int>("--repeat", "-r")
    {
        Description = "How often the folder is gone through.",
        DefaultValueFactory = _ => 3,
    }.AtLeast(1);

    private static readonly Option<double> s_trimPeriod = new Option<double>("--trim-period")
    {
        Description = "Seconds between two looks of the pool at its idle memory.",
        DefaultValueFactory = _ => 1,
    }.Between(0.05, 3600);

    private static readonly Option<int> s_count = new Option<int>("--count")
    {
        Description = "Synthetic photographs to make.",
        DefaultValueFactory = _ => 10,
    }.AtLeast(1);

    private static readonly Option<bool> s_pipelines = new("--pipelines")
    {
        Description = "Compare whole pipelines of other libraries instead: SkiaSharp, NetVips, OpenCvSharp, Magick.NET, ImageSharp.",
    };

    private static readonly Option<int?> s_container = new Option<int?>("--container")
    {
        Description = "With --pipelines: also 1, 2, 4, 16 and 64 at once in containers of so many MiB; wants root, or a delegated cgroup.",
    }.AtLeast(64);

    public static RootCommand Create()
    {
        RootCommand command = new(
            "Loads a folder of pictures, resizes and saves them, once for each allocator in a process of its own, and compares time and "
                + "memory.")
        {
            s_input, s_allocator, s_runs, s_parallelism, s_repeat, s_trimPeriod, s_count, s_pipelines, s_container,
        };
        command.Validators.Add(static result =>
        {
            if (result.GetValue(s_container) is not null && !result.GetValue(s_pipelines))
            {
                result.AddError("--container is for --pipelines only; the command survive runs the job in containers.");
            }
        });
        return command.Measures("LoadResizeSave", (run, cancellationToken) => run.Get(s_pipelines)
            ? new PipelineMeasurement(Read(run), run.Get(s_container), run).MeasureAsync(cancellationToken)
            : new JobMeasurement(Read(run), run).MeasureAsync(cancellationToken));
    }

    public static JobOptions Read(MeasurementRun run)
    {
        string[] names = run.Get(s_allocator);
        return new JobOptions
        {
            Input = run.Get(s_input) is { } input ? Path.GetFullPath(input) : null,
            Work = Path.GetFullPath(Path.Combine("artifacts", "load-resize-save")),
            Allocators =
            [
                .. Enum.GetValues<AllocatorKind>().Where(
                    kind => names.Contains(All) || names.Contains(kind.ToString(), StringComparer.OrdinalIgnoreCase)),
            ],
            Runs = run.Get(s_pipelines) && !run.IsQuick && !run.IsGiven(s_runs) ? PipelineMeasurement.UsualRuns : run.Get(s_runs),
            Parallelism = run.Get(s_parallelism),
            Repeat = run.Get(s_repeat, 1),
            TrimPeriod = TimeSpan.FromSeconds(run.Get(s_trimPeriod, 0.25)),
            SyntheticCount = run.Get(s_count, 4),
            SyntheticMegapixels = run.IsQuick ? 4 : null,
        };
    }
}
