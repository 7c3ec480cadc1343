using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.Threading.Tasks;
using Allocator;
using Measuring.Cgroups;
using ThumbnailService.Loading;

namespace ThumbnailService.Trials;

/// <summary>Starts the service, loads it, and looks at its memory meanwhile.</summary>
internal sealed class ServiceTrialRunner
{
    private readonly bool _hasCgroups;

    /// <summary>Makes a runner that has a cgroup for each trial, or not.</summary>
    public ServiceTrialRunner(bool hasCgroups)
    {
        _hasCgroups = hasCgroups;
    }

    /// <summary>Runs <paramref name="trial"/> with <paramref name="clients"/> at once.</summary>
    public async Task<ServiceTrialResult> RunAsync(ServiceTrial trial, IReadOnlyList<UploadFile> files, int requests, int clients, Action onAnswer)
    {
        using MemoryCgroup? group = _hasCgroups ? MemoryCgroup.Create(trial.LimitMegabytes * (1L << 20)) : null;
        using ServiceProcess service = await ServiceProcess.StartAsync(trial, group);
        using MemoryWatch watch = new(service.Id, group);
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
