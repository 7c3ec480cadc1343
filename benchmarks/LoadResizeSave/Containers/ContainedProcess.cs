namespace LoadResizeSave.Containers;

/// <summary>A child of this program in a memory cgroup, as in a container; or without one, to compare.</summary>
internal sealed class ContainedProcess(Process process, MemoryCgroup? group, Sampler<CgroupSample>? watch)
{
    private static readonly TimeSpan s_watchPeriod = TimeSpan.FromMilliseconds(10);
    private static readonly TimeSpan s_patience = TimeSpan.FromMinutes(2);
    private static readonly TimeSpan s_patienceAtLarge = TimeSpan.FromMinutes(30);

    private readonly List<JobMessage> _jobs = [];
    private double _beganAt;
    private RunMessage? _run;
    private MemoryReading? _most;

    /// <summary>Gets its cgroup, which a process at large does not have.</summary>
    public MemoryCgroup Group => group!;

    public int Id => process.Id;

    public int EndedJobs
    {
        get
        {
            lock (_jobs)
            {
                return _jobs.Count;
            }
        }
    }

    /// <summary>
    /// Runs a child that writes <see cref="ContainerMessage"/> in a group of <paramref name="limitMegabytes"/> MiB without swap, or at
    /// large if that is 0, and without any environment variable that concerns memory.
    /// </summary>
    /// <param name="disturb">Runs beside it from its first job on, until the token says that it has ended.</param>
    public static async Task<ContainedRun> RunAsync(
        ProcessStartInfo start,
        int limitMegabytes,
        Func<ContainedProcess, CancellationToken, Task>? disturb = null,
        CancellationToken cancellationToken = default)
    {
        using MemoryCgroup? group = limitMegabytes == 0 ? null : MemoryCgroup.Create(limitMegabytes * (1L << 20));
        ChildProgram.ForgetMemorySettings(start);
        group?.Wrap(start);
        using Sampler<CgroupSample>? watch =
            group is null ? null : new(s_watchPeriod, seconds => new CgroupSample(seconds, group.UsedBytes));
        using Process process = ChildProgram.Start(start);
        return await new ContainedProcess(process, group, watch).FollowAsync(disturb, cancellationToken);
    }

    private async Task<ContainedRun> FollowAsync(
        Func<ContainedProcess, CancellationToken, Task>? disturb, CancellationToken cancellationToken)
    {
        using CancellationTokenSource patience = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
        patience.CancelAfter(group is null ? s_patienceAtLarge : s_patience);
        using CancellationTokenSource ended = new();
        Task disturbing = Task.CompletedTask;
        ChildEnd end = await ContainedJobs.Task.FollowAsync(
            process,
            message =>
            {
                Note(message);
                if (message.Begins == true && disturb is not null)
                {
                    disturbing = Task.Run(() => disturb(this, ended.Token), CancellationToken.None);
                }
            },
            patience.Token);
        await ended.CancelAsync();
        await disturbing;
        cancellationToken.ThrowIfCancellationRequested();
        IReadOnlyList<CgroupSample> samples = watch?.Stop() ?? [];
        int kills = group?.Kills ?? 0;
        return new ContainedRun
        {
            Ending = ContainedRun.Judge(end.ExitCode, kills, patience.IsCancellationRequested, _run is not null),
            ExitCode = end.ExitCode,
            Kills = kills,
            Jobs = _jobs,
            Run = _run,
            Most = _most,
            Samples = [.. samples.Select(sample => sample with { Seconds = sample.Seconds - _beganAt })],
            PeakBytes = group?.PeakBytes,
            Errors = end.Errors,
        };
    }

    private void Note(ContainerMessage message)
    {
        _run ??= message.Run;
        _beganAt = message.Begins == true && watch is not null ? watch.Seconds : _beganAt;
        if (message.Memory is { } reading && !(reading.Charged <= _most?.Charged))
        {
            _most = reading;
        }

        if (message.Job is { } job)
        {
            lock (_jobs)
            {
                _jobs.Add(job);
            }
        }
    }
}
