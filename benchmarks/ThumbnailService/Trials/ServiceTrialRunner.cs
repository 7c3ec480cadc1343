namespace ThumbnailService.Trials;

/// <summary>Starts the service, loads it, and looks at its memory meanwhile.</summary>
internal sealed class ServiceTrialRunner(bool hasCgroups)
{
    private static readonly TimeSpan s_period = TimeSpan.FromMilliseconds(50);

    public async Task<ServiceTrialResult> RunAsync(
        ServiceTrial trial, IReadOnlyList<UploadFile> files, int requests, int clients, Action onAnswer)
    {
        using MemoryCgroup? group = hasCgroups ? MemoryCgroup.Create(trial.LimitMegabytes * (1L << 20)) : null;
        using ServiceProcess service = await ServiceProcess.StartAsync(trial, group);
        using Sampler<MemoryPoint> watch = new(s_period, seconds => ProcessMemory.TryReadResident(service.Id) is { } resident
            ? new MemoryPoint(seconds, resident, group?.UsedBytes ?? resident)
            : null);
        long started = Stopwatch.GetTimestamp();
        IReadOnlyList<RequestOutcome> outcomes = await new LoadGenerator(files, requests, clients).RunAsync(service.Address, onAnswer);
        double seconds = Stopwatch.GetElapsedTime(started).TotalSeconds;
        MemoryAllocatorStatistics? statistics = await service.ReadStatisticsAsync();
        IReadOnlyList<MemoryPoint> memory = watch.Stop();
        return new ServiceTrialResult
        {
            Trial = trial,
            Requests = requests,
            Outcomes = outcomes,
            Seconds = seconds,
            Memory = memory,
            PeakChargedBytes = group?.PeakBytes,
            WasKilled = group?.Kills > 0,
            Statistics = statistics,
            Errors = service.Errors,
        };
    }
}
