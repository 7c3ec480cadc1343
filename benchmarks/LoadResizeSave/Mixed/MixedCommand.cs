using System;
using System.CommandLine;
using System.IO;
using System.Linq;
using System.Threading.Tasks;
using LoadResizeSave.Containers;
using Measuring;
using Measuring.Machines;
using Measuring.Results;

namespace LoadResizeSave.Mixed;

/// <summary>The command that runs JPEGs and PNGs of mixed sizes in a container, as an image service does, without the web server.</summary>
internal sealed class MixedCommand
{
    private readonly Option<string?> _output = new("--output") { Description = "Where the results go. [default: artifacts/results/<processor>]" };
    private readonly Option<string[]> _ways = new("--ways") { Description = "Ways of having memory.", AllowMultipleArgumentsPerToken = true, DefaultValueFactory = _ => MixedLoad.UsualWays };
    private readonly Option<int> _limit = AtLeast("--limit", "MiB of the container.", 400, 64);
    private readonly Option<int> _workers = AtLeast("--workers", "Jobs at once.", 16, 1);
    private readonly Option<int> _jobs = AtLeast("--jobs", "Jobs of a run.", 160, 1);
    private readonly Option<int> _runs = AtLeast("--runs", "Runs of each way.", 20, 1);
    private readonly Option<double> _minutes = new Option<double>("--minutes") { Description = "No run is begun after so many minutes.", DefaultValueFactory = _ => 15 }.Between(0.1, 600);
    private readonly Option<bool> _quick = new("--quick") { Description = "A short run of each way, to see that the program works; the figures are noise." };

    /// <summary>Makes it.</summary>
    public MixedCommand()
    {
        _ways.AcceptOnlyFromAmong([.. MemoryWay.All.Select(way => way.Name)]);
        Command = new Command("mixed", "Makes JPEGs and PNGs of mixed sizes smaller in a memory cgroup, and says what became of the jobs and what stayed of the memory.")
        {
            _output, _ways, _limit, _workers, _jobs, _runs, _minutes, _quick,
        };
        Command.SetAction((parsed, _) => RunAsync(parsed));
    }

    /// <summary>Gets the command.</summary>
    public Command Command { get; }

    /// <summary>Reads what was asked for; a quick run is a small one wherever nothing else was.</summary>
    public MixedLoad Read(ParseResult parsed)
    {
        bool quick = parsed.GetValue(_quick);
        return new MixedLoad
        {
            Output = parsed.GetValue(_output) ?? Path.Combine("artifacts", "results", ThisMachine.FolderName(ThisMachine.Describe())),
            Ways = [.. parsed.GetRequiredValue(_ways).Distinct().Select(MemoryWay.Get)],
            LimitMegabytes = parsed.GetValue(_limit),
            Workers = parsed.GetValue(_workers),
            Jobs = Value(_jobs, 32),
            Runs = Value(_runs, 1),
            Time = TimeSpan.FromMinutes(parsed.GetValue(_minutes)),
        };

        int Value(Option<int> option, int quickValue)
            => quick && (parsed.GetResult(option) is null or { Implicit: true }) ? quickValue : parsed.GetValue(option);
    }

    private async Task<int> RunAsync(ParseResult parsed)
        => await new MixedMeasurement(Read(parsed), ResultConsole.Create()).RunAsync(title => new MeasurementCommand("LoadResizeSave", "").NewDocument(title, parsed)) ? 0 : 1;

    private static Option<int> AtLeast(string name, string description, int defaultValue, int least) =>
        new Option<int>(name) { Description = description, DefaultValueFactory = _ => defaultValue }.AtLeast(least);
}
