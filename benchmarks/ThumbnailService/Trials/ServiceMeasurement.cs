namespace ThumbnailService.Trials;

/// <summary>Loads a service that runs, or one in memory cgroups: with admission as often as asked for, and once without.</summary>
internal static class ServiceMeasurement
{
    private const int QuickRequests = 40;
    private const double QuickIdleSeconds = 6;
    private const string QuickTrims = "MemoryAllocator:TrimPeriod=00:00:00.5";

    public static async Task<ResultDocument?> RunAsync(MeasurementRun run)
    {
        IReadOnlyList<UploadFile> files = UploadSet.Get(run.Get(ServiceOptions.Input));
        LoadMix mix = new(files, Bombs.Make());
        int requests = run.Get(ServiceOptions.Requests, QuickRequests);
        int clients = run.Get(ServiceOptions.Clients);
        if (run.Get(ServiceOptions.Url) is { } url)
        {
            ResultDocument document = run.NewDocument(ServiceReport.Title);
            return await LoadAsync(run, new Uri(url), new LoadGenerator(mix, requests, clients), requests, document);
        }

        if (MemoryCgroup.WhyUnavailable() is { } reason)
        {
            run.Failures.Add(reason);
            return null;
        }

        TimeSpan idle = TimeSpan.FromSeconds(run.Get(ServiceOptions.Idle, QuickIdleSeconds));
        ServiceTrialRunner runner = new(files, mix, requests, clients, idle, run.IsQuick ? [QuickTrims] : []);
        List<ServiceTrialResult> results = [];
        int[] limits = run.Get(ServiceOptions.Limits, [256]);
        foreach (int limit in limits)
        {
            for (int i = 0; i < run.Get(ServiceOptions.Runs); i++)
            {
                results.Add(await RunAsync(run, runner, new ServiceTrial(limit, IsProtected: true), requests));
            }

            results.Add(await RunAsync(run, runner, new ServiceTrial(limit, IsProtected: false), requests));
        }

        // A file of its own where the usual containers were not asked for.
        ResultDocument report = run.NewDocument(ServiceReport.Title);
        report = limits.Length > 1 || run.IsQuick ? report : report with { Program = Invariant($"{report.Program}-{limits[0]}") };
        return new ServiceReport(requests, clients, files, idle).Complete(report, results);
    }

    private static async Task<ServiceTrialResult> RunAsync(
        MeasurementRun run, ServiceTrialRunner runner, ServiceTrial trial, int requests)
    {
        string name = Invariant($"{trial.LimitMegabytes} MiB, {(trial.IsProtected ? "admitted by memory" : "all let in")}");
        ServiceTrialResult result = await run.Console.Progress().StartAsync(progress =>
        {
            ProgressTask task = progress.AddTask(name, maxValue: requests);
            return runner.RunAsync(trial, () => task.Increment(1));
        });
        List<string> faults = [.. result.Faults];
        string statuses = string.Join(", ", result.Outcomes.CountBy(outcome => outcome.Status ?? 0).OrderBy(pair => pair.Key)
            .Select(pair => Invariant($"{pair.Value} × {(pair.Key == 0 ? "no answer" : pair.Key)}")));
        double mebibyte = 1 << 20;
        run.Console.WriteLine(Invariant($"{name}: {(faults.Count == 0 ? "good" : faults[0])}; {statuses}; {result.Seconds:0.0} s; ")
            + Invariant($"start {result.StartBytes / mebibyte:0.0}, end {result.EndBytes / mebibyte:0.0}, ")
            + Invariant($"peak {result.PeakBytes >> 20} MiB"));
        if (trial.IsProtected && faults.Count > 0)
        {
            string errors = result.Errors[..Math.Min(result.Errors.Length, 2000)];
            run.Failures.Add($"{name}: {string.Join("; ", faults.Take(3))} {errors}".Trim());
        }

        return result;
    }

    // What another process, or machine, holds is not seen from here: only the answers are.
    private static async Task<ResultDocument> LoadAsync(
        MeasurementRun run, Uri url, LoadGenerator load, int requests, ResultDocument document)
    {
        IReadOnlyList<RequestOutcome> outcomes = await run.Console.Progress().StartAsync(progress =>
        {
            ProgressTask task = progress.AddTask($"{url}", maxValue: requests);
            return load.RunAsync(url, () => task.Increment(1));
        });
        foreach (string failure in outcomes.Select(outcome => outcome.Failure).OfType<string>().Take(3))
        {
            run.Failures.Add(failure);
        }

        return document with { Tables = [ServiceReport.Times([($"{url}", outcomes)])] };
    }
}
