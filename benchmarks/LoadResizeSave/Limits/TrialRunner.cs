using Measuring.Cgroups;

namespace LoadResizeSave.Limits;

/// <summary>The job under one condition.</summary>
/// <param name="LimitMegabytes">The memory cgroup's limit in MiB; null: it has none, and only counts.</param>
/// <param name="BudgetMegabytes">The allocator's budget in MiB, where it has one.</param>
internal sealed record JobTrial(int? LimitMegabytes, int Parallelism, AllocatorKind Allocator, int? BudgetMegabytes);

/// <summary>Runs the job in a memory cgroup of its own.</summary>
internal sealed class TrialRunner
{
    // glibc raises the size from which on memory goes back to the system to that of what was freed last: a codec's freed memory would
    // stay, and differently in each run.
    private const string MappedFromBytes = "1048576";

    private readonly AllocatorRunner _runner;
    private readonly JobOptions _options;

    public TrialRunner(AllocatorRunner runner, JobOptions options)
    {
        _runner = runner;
        _options = options with { WatchesIdle = false };
    }

    /// <exception cref="CgroupUnavailableException">No cgroup can be made.</exception>
    public async Task<TrialResult> RunAsync(JobTrial trial, string input, CancellationToken cancellationToken)
    {
        using MemoryCgroup group = MemoryCgroup.Create(trial.LimitMegabytes * (1L << 20));
        JobOptions options = _options with { Parallelism = trial.Parallelism, BudgetMegabytes = trial.BudgetMegabytes };
        MeasuredRun? run = null;
        string? failure = null;
        try
        {
            run = await _runner.RunAsync(options, trial.Allocator, input, _ => { }, cancellationToken, start => Prepare(start, trial.Allocator, group));
        }
        catch (ChildFailedException exception)
        {
            failure = exception.Message;
        }

        return new TrialResult { Trial = trial, Run = run, Failure = failure, WasKilled = group.Kills > 0, PeakBytes = group.PeakBytes };
    }

    /// <exception cref="ChildFailedException">The job failed, although nothing limits it.</exception>
    public async Task<ProcessBase> MeasureBaseAsync(int parallelism, string input, CancellationToken cancellationToken)
    {
        TrialResult result = await RunAsync(new JobTrial(null, parallelism, AllocatorKind.Unpooled, null), input, cancellationToken);
        return new ProcessBase((result.Run ?? throw new ChildFailedException(result.Failure!)).FinalResidentBytes);
    }

    private static void Prepare(ProcessStartInfo start, AllocatorKind kind, MemoryCgroup group)
    {
        start.Environment["MALLOC_MMAP_THRESHOLD_"] = MappedFromBytes;

        // A budget and a limit of the heap go together. Without a budget the choice is left to the runtime: three quarters of the
        // container.
        if (kind == AllocatorKind.Budget)
        {
            start.Environment["DOTNET_GCHeapHardLimit"] = ProcessBase.HeapLimitInBytes.ToString("x", CultureInfo.InvariantCulture);
        }

        group.Wrap(start);
    }
}
