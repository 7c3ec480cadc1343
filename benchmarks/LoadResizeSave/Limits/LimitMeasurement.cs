namespace LoadResizeSave.Limits;

/// <summary>The job under one condition.</summary>
/// <param name="LimitMegabytes">The memory cgroup's limit in MiB; null: it has none, and only counts.</param>
/// <param name="BudgetMegabytes">The allocator's budget in MiB, where it has one.</param>
internal sealed record JobTrial(int? LimitMegabytes, int Parallelism, AllocatorKind Allocator, int? BudgetMegabytes)
{
    public string Name => Invariant($"{JobText.Name(Allocator)}, {Parallelism} at once, ")
        + (LimitMegabytes is { } limit ? Invariant($"{limit} MiB") : "no limit");
}

/// <summary>How a trial ended, and what it took.</summary>
/// <param name="Run">What the job found; null where it did not come to its end.</param>
/// <param name="PeakBytes">The most that was charged to the group, cached files included; null where the kernel does not tell.</param>
internal sealed record TrialResult(JobTrial Trial, MeasuredRun? Run, string? Failure, bool WasKilled, long? PeakBytes)
{
    public double? CpuSecondsOfPass => Average(pass => (pass.Cost.UserTime + pass.Cost.SystemTime).TotalSeconds);

    public double? PageFaultsOfPass => Average(pass => pass.Cost.MinorFaults + pass.Cost.MajorFaults);

    public double? PicturesPerSecond => Average(pass => pass.Pictures / pass.WallSeconds);

    /// <summary>Says in a word or two how it ended; <paramref name="pictures"/> is how many there are to be saved.</summary>
    public string Outcome(int pictures) => this switch
    {
        { WasKilled: true } => "killed",
        { Run: null } => "failed",
        { Run.Pictures: var saved } when saved < pictures => $"{pictures - saved} of {pictures} refused",
        _ => "finished",
    };

    // Over all passes but the first, in which memory and code are new.
    private double? Average(Func<MeasuredPass, double?> figure) => Run?.Passes.Skip(Run.Passes.Count > 1 ? 1 : 0).Average(figure);
}

/// <summary>The job in containers: each allocator at each parallelism within each limit, and without one.</summary>
internal sealed class LimitMeasurement(JobOptions options, IAnsiConsole console) : JobMeasurement(options, console)
{
    private readonly List<TrialResult> _results = [];
    private ProcessBase _base;

    private int Pictures => _results.Max(result => result.Run?.Pictures ?? 0);

    protected override async Task MeasureAsync(string input, ProgressContext progress, CancellationToken cancellationToken)
    {
        ProgressTask task = progress.AddTask("what the process holds besides");
        try
        {
            JobTrial alone = new(null, Options.Parallelisms.Max(), AllocatorKind.Unpooled, null);
            TrialResult first = await RunAsync(alone, input, cancellationToken);
            _base = new ProcessBase((first.Run ?? throw new ChildFailedException(first.Failure!)).FinalResidentBytes);
            List<JobTrial> trials = [.. Trials()];
            _ = task.MaxValue(trials.Count);
            foreach (JobTrial trial in trials)
            {
                task.Description = trial.Name;
                Add(await RunAsync(trial, input, cancellationToken));
                task.Increment(1);
            }
        }
        catch (Exception exception) when (exception is CgroupUnavailableException or ChildFailedException or InvalidOperationException)
        {
            Failures.Add(exception.Message);
        }
    }

    protected override bool Report(Func<string, ResultDocument> newDocument)
    {
        if (_results.Count == 0)
        {
            return false;
        }

        LimitReport report = new(_results, Options, _base, Pictures);
        Save(report.Complete(newDocument(report.Title)));
        return true;
    }

    // Without a limit first: that is what the others are compared with.
    private IEnumerable<JobTrial> Trials() =>
        from limit in (int?[])[null, .. Options.MemoryLimits]
        from parallelism in Options.Parallelisms
        from kind in Options.Allocators
        where kind != AllocatorKind.Budget || limit is not null
        select new JobTrial(limit, parallelism, kind, kind == AllocatorKind.Budget ? _base.Budget(limit!.Value) : null);

    private async Task<TrialResult> RunAsync(JobTrial trial, string input, CancellationToken cancellationToken)
    {
        using MemoryCgroup group = MemoryCgroup.Create(trial.LimitMegabytes * (1L << 20));
        JobOptions options = Options with
        {
            Parallelisms = [trial.Parallelism],
            BudgetMegabytes = trial.BudgetMegabytes,
            WatchesIdle = false,
        };
        MeasuredRun? run = null;
        string? failure = null;
        try
        {
            run = await JobChild.RunAsync(options, trial.Allocator, input, cancellationToken, prepare: start =>
            {
                ProcessBase.Prepare(start, hasBudget: trial.Allocator == AllocatorKind.Budget);
                group.Wrap(start);
            });
        }
        catch (ChildFailedException exception)
        {
            failure = exception.Message;
        }

        return new TrialResult(trial, run, failure, group.Kills > 0, group.PeakBytes);
    }

    private void Add(TrialResult result)
    {
        _results.Add(result);
        bool mustFinish = result.Trial.LimitMegabytes is null || result.Trial.Allocator == AllocatorKind.Budget;
        if (mustFinish && result.Outcome(Pictures) != "finished")
        {
            Failures.Add($"{result.Trial.Name}: {result.Outcome(Pictures)}. {result.Failure}");
        }

        List<MeasuredRun> whole =
        [
            .. _results.Select(earlier => earlier.Run).OfType<MeasuredRun>().Where(run => run.Pictures == Pictures),
        ];
        if (whole.Count > 1 && !new OutputComparison([whole[0], whole[^1]]).AreIdentical)
        {
            Failures.Add($"{result.Trial.Name}: its files differ from those of the others");
        }
    }
}
