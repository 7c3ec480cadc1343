namespace LoadResizeSave.Containers;

/// <summary>A child of this program in a memory cgroup, as in a container.</summary>
internal sealed class ContainedProcess(Process process, MemoryCgroup group, Sampler<CgroupSample> watch)
{
    private static readonly TimeSpan s_watchPeriod = TimeSpan.FromMilliseconds(10);
    private static readonly TimeSpan s_patience = TimeSpan.FromMinutes(2);

    private readonly List<JobMessage> _jobs = [];
    private readonly List<MemoryReading> _readings = [];
    private double _beganAt;
    private RunMessage? _run;

    public MemoryCgroup Group { get; } = group;

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
    /// Runs <paramref name="options"/> in a group of <paramref name="limitMegabytes"/> MiB without swap, and without any environment
    /// variable set.
    /// </summary>
    /// <param name="disturb">Runs beside it from its first job on, until the token says that it has ended.</param>
    public static Task<ContainedRun> RunAsync(
        ContainedOptions options,
        int limitMegabytes,
        Func<ContainedProcess, CancellationToken, Task>? disturb = null,
        CancellationToken cancellationToken = default)
        => RunAsync(ContainedJobs.Task.Describe(options), limitMegabytes, disturb, cancellationToken);

    /// <summary>As above, for any child that writes <see cref="ContainerMessage"/>.</summary>
    public static async Task<ContainedRun> RunAsync(
        ProcessStartInfo start,
        int limitMegabytes,
        Func<ContainedProcess, CancellationToken, Task>? disturb = null,
        CancellationToken cancellationToken = default)
    {
        using MemoryCgroup group = MemoryCgroup.Create(limitMegabytes * (1L << 20));
        ChildProgram.ForgetMemorySettings(start);
        group.Wrap(start);
        using Sampler<CgroupSample> watch = new(s_watchPeriod, seconds => new CgroupSample(seconds, group.UsedBytes));
        using Process process = ChildProgram.Start(start);
        return await new ContainedProcess(process, group, watch).FollowAsync(disturb, cancellationToken);
    }

    private async Task<ContainedRun> FollowAsync(
        Func<ContainedProcess, CancellationToken, Task>? disturb, CancellationToken cancellationToken)
    {
        using CancellationTokenSource patience = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
        patience.CancelAfter(s_patience);
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
        IReadOnlyList<CgroupSample> samples = watch.Stop();
        int kills = Group.Kills;
        return new ContainedRun
        {
            Ending = ContainedRun.Judge(end.ExitCode, kills, patience.IsCancellationRequested, _run is not null),
            ExitCode = end.ExitCode,
            Kills = kills,
            Jobs = _jobs,
            Run = _run,
            Readings = _readings,
            Samples = [.. samples.Select(sample => sample with { Seconds = sample.Seconds - _beganAt })],
            PeakBytes = Group.PeakBytes,
            Errors = end.Errors,
        };
    }

    private void Note(ContainerMessage message)
    {
        _run ??= message.Run;
        _beganAt = message.Begins == true ? watch.Seconds : _beganAt;
        if (message.Memory is { } reading)
        {
            _readings.Add(reading);
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
