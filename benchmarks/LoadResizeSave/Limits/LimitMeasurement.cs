using Measuring.Cgroups;

namespace LoadResizeSave.Limits;

/// <summary>The job in containers: each allocator at each parallelism within each limit, and without one.</summary>
internal sealed class LimitMeasurement : IJobMeasurement
{
    private readonly TrialRunner _runner;
    private readonly JobOptions _options;
    private readonly IAnsiConsole _console;
    private readonly Func<string, ResultDocument> _newDocument;
    private readonly List<TrialResult> _results = [];
    private readonly List<string> _failures = [];
    private ProcessBase? _base;

    /// <summary>
    /// Prepares the measurement that <paramref name="options"/> describe; <paramref name="newDocument"/> makes a result with a title.
    /// </summary>
    public LimitMeasurement(AllocatorRunner runner, JobOptions options, IAnsiConsole console, Func<string, ResultDocument> newDocument)
    {
        _runner = new TrialRunner(runner, options);
        _options = options;
        _console = console;
        _newDocument = newDocument;
    }

    public IReadOnlyList<string> Failures => _failures;

    public async Task MeasureAsync(string input, ProgressContext progress, CancellationToken cancellationToken)
    {
        ProgressTask task = progress.AddTask("what the process holds besides");
        try
        {
            _base = await _runner.MeasureBaseAsync(_options.Parallelisms.Max(), input, cancellationToken);
            List<JobTrial> trials = [.. Trials(_base.Value)];
            _ = task.MaxValue(trials.Count);
            foreach (JobTrial trial in trials)
            {
                task.Description = LimitReport.Name(trial);
                Add(await _runner.RunAsync(trial, input, cancellationToken));
                task.Increment(1);
            }
        }
        catch (Exception exception) when (exception is CgroupUnavailableException or ChildFailedException or InvalidOperationException)
        {
            _failures.Add(exception.Message);
        }
    }

    public bool Report()
    {
        if (_base is not { } processBase || _results.Count == 0)
        {
            return false;
        }

        LimitReport report = new(_results, _options, processBase);
        ResultDocument document = report.Complete(_newDocument(report.Title));
        string results = ResultFile.Save(document, _options.Output);
        ResultConsole.Write(_console, document);
        _console.WriteLine($"results   {results}");
        return true;
    }

    // Without a limit first: that is what the others are compared with.
    private IEnumerable<JobTrial> Trials(ProcessBase processBase) =>
        from limit in (int?[])[null, .. _options.MemoryLimits]
        from parallelism in _options.Parallelisms
        from kind in _options.Allocators
        where kind != AllocatorKind.Budget || limit is not null || _options.BudgetMegabytes is not null
        select new JobTrial(limit, parallelism, kind, kind == AllocatorKind.Budget ? _options.BudgetMegabytes ?? processBase.Budget(limit!.Value) : null);

    private void Add(TrialResult result)
    {
        bool mustFinish = result.Trial.LimitMegabytes is null || result.Trial.Allocator == AllocatorKind.Budget;
        if (mustFinish && (result.Run is null || result.WasKilled || result.Run.Pictures < LimitReport.CountPictures(_results)))
        {
            _failures.Add($"{LimitReport.Name(result.Trial)}: {result.Outcome(LimitReport.CountPictures(_results))}. {result.Failure}");
        }

        _results.Add(result);
        IReadOnlyList<MeasuredRun> whole = [.. _results.Select(earlier => earlier.Run).OfType<MeasuredRun>().Where(run => run.Pictures == LimitReport.CountPictures(_results))];
        if (whole.Count > 1 && !new OutputComparison([whole[0], whole[^1]]).AreIdentical)
        {
            _failures.Add($"{LimitReport.Name(result.Trial)}: its files differ from those of the others");
        }
    }
}
