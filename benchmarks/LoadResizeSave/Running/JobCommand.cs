namespace LoadResizeSave.Running;

/// <summary>The root command: the job itself, with the allocators side by side.</summary>
internal static class JobCommand
{
    private const string All = "all";

    private static readonly string s_work = Path.Combine("artifacts", "load-resize-save");

    private static readonly Option<string?> s_input = new("--input", "-i")
    {
        Description = "Folder of pictures, searched with its subfolders. Without it a set of large synthetic photographs is made first.",
    };

    private static readonly Option<string?> s_output = new("--output", "-o")
    {
        Description = $"Folder for results and the chart. [default: {s_work}; with several runs artifacts/results/<processor>]",
    };

    private static readonly Option<string[]> s_allocator = new Option<string[]>("--allocator", "-a")
    {
        Description = "Allocators to compare.",
        AllowMultipleArgumentsPerToken = true,
        DefaultValueFactory = _ => [All],
    }.AcceptOnlyFromAmong([
        All,
        .. Enum.GetValues<AllocatorKind>().Where(kind => kind != AllocatorKind.Budget).Select(kind => kind.ToString().ToLowerInvariant()),
    ]);

    private static readonly Option<int> s_runs = new Option<int>("--runs")
    {
        Description = "Runs of each allocator. With more than one they take turns, and the result are medians.",
        DefaultValueFactory = _ => 1,
    }.AtLeast(1);

    private static readonly Option<int[]> s_parallelism = new Option<int[]>("--parallelism", "-p")
    {
        Description = "Pictures worked on at once; with --memory-limit one or more such numbers.",
        AllowMultipleArgumentsPerToken = true,
        DefaultValueFactory = _ => [Environment.ProcessorCount],
    }.AtLeast(1);

    private static readonly Option<int[]> s_memoryLimit = new Option<int[]>("--memory-limit")
    {
        Description = "Runs the job in a memory cgroup of so many MiB, in each of those named, and without a limit beside them.",
        AllowMultipleArgumentsPerToken = true,
        DefaultValueFactory = _ => [],
    }.AtLeast(64);

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

    private static readonly Option<bool> s_quick = new("--quick")
    {
        Description = "A small set and short periods: done in seconds, to see that everything works.",
    };

    public static RootCommand Create()
    {
        RootCommand root = new("Loads a folder of pictures, resizes and saves them, once for each allocator in a process of its own, "
            + "and compares time and memory.")
        {
            s_input, s_output, s_allocator, s_runs, s_parallelism, s_memoryLimit, s_repeat, s_trimPeriod, s_count, s_quick,
        };
        root.Validators.Add(result =>
        {
            bool hasLimits = result.GetValue(s_memoryLimit) is { Length: > 0 };
            if (hasLimits && result.GetValue(s_runs) > 1)
            {
                result.AddError("--memory-limit goes with --repeat, not with --runs");
            }

            if (!hasLimits && result.GetValue(s_parallelism) is { Length: > 1 })
            {
                result.AddError("--parallelism takes several numbers with --memory-limit alone");
            }
        });
        root.SetAction((parsed, cancellationToken) =>
        {
            JobOptions options = Read(parsed);
            IAnsiConsole console = ResultConsole.Create();
            JobMeasurement measurement = options.MemoryLimits.Count > 0 ? new LimitMeasurement(options, console)
                : options.Runs == 1 ? new SingleMeasurement(options, console)
                : new RoundMeasurement(options, console);
            return measurement.RunAsync(title => MeasurementRun.NewDocument("LoadResizeSave", title, parsed), cancellationToken);
        });
        return root;
    }

    public static JobOptions Read(ParseResult result)
    {
        bool quick = result.GetValue(s_quick);
        int runs = result.GetValue(s_runs);
        int[] limits = result.GetRequiredValue(s_memoryLimit);
        bool isSingle = runs == 1 && limits.Length == 0;
        string output = Path.GetFullPath(result.GetValue(s_output) ?? (isSingle ? s_work : MeasurementCommand.UsualFolder));
        string[] names = result.GetRequiredValue(s_allocator);
        return new JobOptions
        {
            Input = result.GetValue(s_input) is { } input ? Path.GetFullPath(input) : null,
            Output = output,
            Work = isSingle ? output : Path.GetFullPath(s_work),

            // What a budget is cannot be known without a limit; where there is one, all of them are compared.
            Allocators =
            [
                .. Enum.GetValues<AllocatorKind>().Where(kind => kind == AllocatorKind.Budget
                    ? limits.Length > 0
                    : names.Contains(All) || names.Contains(kind.ToString(), StringComparer.OrdinalIgnoreCase)),
            ],
            Runs = runs,
            Parallelisms = [.. result.GetRequiredValue(s_parallelism).Distinct()],
            MemoryLimits = [.. limits.Distinct()],
            Repeat = quick && IsDefault(s_repeat) ? 1 : result.GetValue(s_repeat),
            TrimPeriod = TimeSpan.FromSeconds(quick && IsDefault(s_trimPeriod) ? 0.25 : result.GetValue(s_trimPeriod)),
            SyntheticCount = quick && IsDefault(s_count) ? 4 : result.GetValue(s_count),
            SyntheticMegapixels = quick ? 4 : null,
        };

        bool IsDefault(Option option) => result.GetResult(option) is null or { Implicit: true };
    }
}
