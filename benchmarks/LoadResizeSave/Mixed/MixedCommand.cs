using LoadResizeSave.Containers;

namespace LoadResizeSave.Mixed;

/// <summary>
/// The command that runs JPEGs and PNGs of mixed sizes in a container, as an image service does, without the web server.
/// </summary>
internal sealed class MixedCommand
{
    private readonly Option<string?> _output = ContainerOptions.Output();
    private readonly Option<string[]> _ways = ContainerOptions.Ways(MixedLoad.UsualWays);
    private readonly Option<int> _limit = ContainerOptions.Number("--limit", "MiB of the container.", 400, least: 64);
    private readonly Option<int> _workers = ContainerOptions.Number("--workers", "Jobs at once.", 16);
    private readonly Option<int> _jobs = ContainerOptions.Number("--jobs", "Jobs of a run.", 160);
    private readonly Option<int> _runs = ContainerOptions.Number("--runs", "Runs of each way.", 20);
    private readonly Option<double> _minutes = ContainerOptions.Minutes();
    private readonly Option<bool> _quick = ContainerOptions.Quick();

    public MixedCommand()
    {
        Command = new("mixed", "Makes JPEGs and PNGs of mixed sizes smaller in a memory cgroup, and says what stayed of the memory.")
        {
            _output, _ways, _limit, _workers, _jobs, _runs, _minutes, _quick,
        };
        ContainerOptions.Measures(Command, "LoadResizeSave-mixed", _output, (parsed, console, empty, _, cancellationToken) =>
            new MixedMeasurement(Read(parsed), console).RunAsync(empty, cancellationToken));
    }

    public Command Command { get; }

    /// <summary>Reads what was asked for; a quick run is a small one wherever nothing else was.</summary>
    public MixedLoad Read(ParseResult parsed)
    {
        bool quick = parsed.GetValue(_quick);
        return new MixedLoad
        {
            Ways = ContainerOptions.GetWays(parsed.GetRequiredValue(_ways)),
            LimitMegabytes = parsed.GetValue(_limit),
            Workers = parsed.GetValue(_workers),
            Jobs = ContainerOptions.Get(parsed, _jobs, quick, 32),
            Runs = ContainerOptions.Get(parsed, _runs, quick, 1),
            Time = TimeSpan.FromMinutes(parsed.GetValue(_minutes)),
        };
    }
}
