using System.Text.Json;
using Measuring.Cgroups;

namespace LoadResizeSave.Containers;

/// <summary>A child of this program in a memory cgroup, as in a container.</summary>
internal sealed class ContainedProcess(Process process, MemoryCgroup group, Sampler<CgroupSample> watch)
{
    private static readonly TimeSpan s_watchPeriod = TimeSpan.FromMilliseconds(10);
    private static readonly TimeSpan s_patience = TimeSpan.FromMinutes(2);

    private readonly Process _process = process;
    private readonly Sampler<CgroupSample> _watch = watch;
    private readonly List<JobMessage> _jobs = [];
    private readonly List<MemoryReading> _readings = [];
    private double _beganAt;
    private RunMessage? _run;

    public MemoryCgroup Group { get; } = group;

    public int Id => _process.Id;

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
    /// <exception cref="CgroupUnavailableException">No cgroup can be made.</exception>
    /// <exception cref="OperationCanceledException">It was ended; its group is gone.</exception>
    public static async Task<ContainedRun> RunAsync(
        ContainedOptions options,
        int limitMegabytes,
        Func<ContainedProcess, CancellationToken, Task>? disturb = null,
        CancellationToken cancellationToken = default)
    {
        using MemoryCgroup group = MemoryCgroup.Create(limitMegabytes * (1L << 20));
        ProcessStartInfo start = ChildProgram.Describe(
            typeof(ContainedProcess).Assembly.Location, [.. ContainedCommand.ChildArguments(options)]);
        ChildProgram.ForgetMemorySettings(start);
        group.Wrap(start);
        using Sampler<CgroupSample> watch = new(s_watchPeriod, seconds => new CgroupSample(seconds, group.UsedBytes));
        using Process process = ChildProgram.Start(start);
        return await new ContainedProcess(process, group, watch).FollowAsync(disturb, cancellationToken);
    }

    private async Task<ContainedRun> FollowAsync(
        Func<ContainedProcess, CancellationToken, Task>? disturb, CancellationToken cancellationToken)
    {
        bool hasHung = false;
        using CancellationTokenSource patience = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
        patience.CancelAfter(s_patience);
        await using CancellationTokenRegistration registration = patience.Token.Register(() =>
        {
            hasHung = true;
            _process.Kill();
        });
        using CancellationTokenSource ended = new();
        Task<string> errors = _process.StandardError.ReadToEndAsync(CancellationToken.None);
        Task disturbing = Task.CompletedTask;
        while (await _process.StandardOutput.ReadLineAsync(CancellationToken.None) is { } line)
        {
            if (Read(line) && disturb is not null)
            {
                disturbing = Task.Run(() => disturb(this, ended.Token), CancellationToken.None);
            }
        }

        await _process.WaitForExitAsync(CancellationToken.None);
        await ended.CancelAsync();
        await disturbing;
        cancellationToken.ThrowIfCancellationRequested();
        IReadOnlyList<CgroupSample> samples = _watch.Stop();
        int kills = Group.Kills;
        return new ContainedRun
        {
            Ending = ContainedRun.Judge(_process.ExitCode, kills, hasHung, _run is not null),
            ExitCode = _process.ExitCode,
            Kills = kills,
            Jobs = _jobs,
            Run = _run,
            Readings = _readings,
            Samples = [.. samples.Select(sample => sample with { Seconds = sample.Seconds - _beganAt })],
            PeakBytes = Group.PeakBytes,
            Errors = (await errors).Trim(),
        };
    }

    // Returns whether the jobs begin. A process that is killed may leave half a line.
    private bool Read(string line)
    {
        try
        {
            ContainerMessage message = JsonSerializer.Deserialize(line, ContainerJson.Default.ContainerMessage)!;
            _run ??= message.Run;
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

            _beganAt = message.Begins == true ? _watch.Seconds : _beganAt;
            return message.Begins == true;
        }
        catch (JsonException)
        {
            return false;
        }
    }
}
