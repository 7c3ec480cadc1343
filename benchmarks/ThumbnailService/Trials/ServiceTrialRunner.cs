namespace ThumbnailService.Trials;

/// <summary>Starts the service in a cgroup, loads it, and looks at its memory meanwhile.</summary>
internal sealed class ServiceTrialRunner(
    IReadOnlyList<UploadFile> files, LoadMix mix, int requests, int clients, TimeSpan idle, params string[] settings)
{
    private static readonly TimeSpan s_period = TimeSpan.FromMilliseconds(50);

    public async Task<ServiceTrialResult> RunAsync(ServiceTrial trial, Action onAnswer)
    {
        using MemoryCgroup group = MemoryCgroup.Create(trial.LimitMegabytes * (1L << 20));
        using ServiceProcess service = await ServiceProcess.StartAsync(
            group, ServeCommand.ChildArguments(trial.IsProtected, settings));

        // Code is compiled, libraries are loaded, connections and caches are made before anything is counted.
        _ = await new LoadGenerator(new LoadMix(files, []), files.Count, clients).RunAsync(service.Address, () => { });
        await Task.Delay(idle);
        long start = group.Memory.UnreclaimableBytes;
        using Sampler<ChargePoint> watch = new(
            s_period, _ => new ChargePoint(DateTimeOffset.UtcNow, group.Memory.UnreclaimableBytes));
        DateTimeOffset started = DateTimeOffset.UtcNow;
        IReadOnlyList<RequestOutcome> outcomes = await new LoadGenerator(mix, requests, clients).RunAsync(service.Address, onAnswer);
        double seconds = (DateTimeOffset.UtcNow - started).TotalSeconds;
        await Task.Delay(group.Kills > 0 ? TimeSpan.Zero : idle);
        return new ServiceTrialResult
        {
            Trial = trial,
            Requests = requests,
            Outcomes = outcomes,
            Started = started,
            Seconds = seconds,
            Charges = watch.Stop(),
            StartBytes = start,
            EndBytes = group.Memory.UnreclaimableBytes,
            PeakBytes = group.PeakBytes,
            Kills = group.Kills,
            History = await service.ReadHistoryAsync(),
            Errors = service.Errors,
        };
    }
}
