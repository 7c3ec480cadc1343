namespace ThumbnailService.Trials;

/// <summary>The service with a budget in a cgroup, without one where nothing limits it, and without one in the same cgroup.</summary>
internal sealed class ServiceMeasurement(ServiceLoad load, MeasurementRun run)
{
    private const int BaseClients = 2;

    public async Task<ResultDocument> RunAsync()
    {
        string? noCgroup = MemoryCgroup.WhyUnavailable();
        IReadOnlyList<UploadFile> files = UploadSet.Get(load);
        ServiceTrialRunner runner = new(hasCgroups: noCgroup is null);
        ProcessBase processBase = await MeasureBaseAsync(runner, files);
        int budget = processBase.Budget(load.LimitMegabytes);
        List<ServiceTrial> trials =
        [
            new("with a budget", AllocatorKind.Budget, budget, load.LimitMegabytes),
            new("without a budget or limit", AllocatorKind.Pool, null, null),
            .. noCgroup is null
                ? [new("without a budget, in the limit", AllocatorKind.Pool, null, load.LimitMegabytes)]
                : Array.Empty<ServiceTrial>(),
        ];
        List<ServiceTrialResult> results = [];
        foreach (ServiceTrial trial in trials)
        {
            results.Add(await RunAsync(runner, trial, files, load.Requests, load.Clients));
            Check(results[^1], results[0]);
        }

        return new ServiceReport(load, files.Count, processBase, results, noCgroup).Complete(run.NewDocument(ServiceReport.Title));
    }

    // Each picture once, two at a time, with nothing kept: what is there afterwards is the process itself.
    private async Task<ProcessBase> MeasureBaseAsync(ServiceTrialRunner runner, IReadOnlyList<UploadFile> files)
    {
        ServiceTrialResult result = await RunAsync(
            runner, new ServiceTrial("the service alone", AllocatorKind.Unpooled, null, null), files, files.Count, BaseClients);
        return new ProcessBase(result.Memory[^1].ResidentBytes);
    }

    private Task<ServiceTrialResult> RunAsync(
        ServiceTrialRunner runner, ServiceTrial trial, IReadOnlyList<UploadFile> files, int requests, int clients)
        => run.Console.Progress().StartAsync(progress =>
        {
            ProgressTask task = progress.AddTask(trial.Name, maxValue: requests);
            return runner.RunAsync(trial, files, requests, clients, () => task.Increment(1));
        });

    private void Check(ServiceTrialResult result, ServiceTrialResult first)
    {
        bool mayFail = result.Trial is { BudgetMegabytes: null, LimitMegabytes: not null };
        if (!mayFail && result.Answered < result.Requests)
        {
            string reason = result.Outcomes.FirstOrDefault(outcome => outcome.Failure is not null)?.Failure ?? "not sent";
            run.Failures.Add($"{result.Trial.Name}: {result.Requests - result.Answered} of {result.Requests} requests failed: {reason} "
                + $"{result.Errors}");
        }

        if (!mayFail && result.Statistics is not { OutstandingAllocations: 0, BudgetUsedBytes: 0 })
        {
            run.Failures.Add($"{result.Trial.Name}: memory is outstanding although there is no request: {result.Statistics}");
        }

        List<(string File, string? Thumbnail)> thumbnails =
            [
                .. first.Outcomes.Concat(result.Outcomes).Where(outcome => outcome.Thumbnail is not null).Select(
                    outcome => (outcome.File, outcome.Thumbnail)).Distinct(),
            ];
        if (thumbnails.Count > thumbnails.DistinctBy(pair => pair.File).Count())
        {
            run.Failures.Add($"{result.Trial.Name}: one picture came back as different thumbnails");
        }
    }
}
