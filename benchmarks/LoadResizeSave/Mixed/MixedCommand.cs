using System;
using System.CommandLine;
using System.Threading;
using System.Threading.Tasks;
using LoadResizeSave.Containers;
using Measuring.Results;

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

    /// <summary>Makes it.</summary>
    public MixedCommand()
    {
        Command = new("mixed", "Makes JPEGs and PNGs of mixed sizes smaller in a memory cgroup, and says what stayed of the memory.")
        {
            _output, _ways, _limit, _workers, _jobs, _runs, _minutes, _quick,
        };
        Command.SetAction(RunAsync);
    }

    /// <summary>Gets the command.</summary>
    public Command Command { get; }

    /// <summary>Reads what was asked for; a quick run is a small one wherever nothing else was.</summary>
    public MixedLoad Read(ParseResult parsed)
    {
        bool quick = parsed.GetValue(_quick);
        return new MixedLoad
        {
            Output = ContainerOptions.GetOutput(parsed.GetValue(_output)),
            Ways = ContainerOptions.GetWays(parsed.GetRequiredValue(_ways)),
            LimitMegabytes = parsed.GetValue(_limit),
            Workers = parsed.GetValue(_workers),
            Jobs = ContainerOptions.Get(parsed, _jobs, quick, 32),
            Runs = ContainerOptions.Get(parsed, _runs, quick, 1),
            Time = TimeSpan.FromMinutes(parsed.GetValue(_minutes)),
        };
    }

    private async Task<int> RunAsync(ParseResult parsed, CancellationToken cancellationToken)
    {
        MixedMeasurement measurement = new(Read(parsed), ResultConsole.Create());
        return await measurement.RunAsync(ContainerOptions.Documents(parsed), cancellationToken) ? 0 : 1;
    }
}
