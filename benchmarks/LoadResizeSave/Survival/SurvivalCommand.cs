using System;
using System.CommandLine;
using System.IO;
using System.Linq;
using System.Threading.Tasks;
using LoadResizeSave.Containers;
using Measuring;
using Measuring.Machines;
using Measuring.Results;
using Spectre.Console;

namespace LoadResizeSave.Survival;

/// <summary>The command that asks which ways of having memory survive in a container.</summary>
internal sealed class SurvivalCommand
{
    private const string All = "all";

    private readonly Option<string?> _input = new("--input") { Description = "Folder of photographs of 8 to 15 megapixels. [default: Debian's plasma-workspace-wallpapers, or some that are made]" };
    private readonly Option<string?> _output = new("--output") { Description = "Where the results go. [default: artifacts/results/<processor>]" };
    private readonly Option<string[]> _ways = new("--ways") { Description = "Ways of having memory.", AllowMultipleArgumentsPerToken = true, DefaultValueFactory = _ => [All] };
    private readonly Option<int[]> _limits = Several("--limits", "MiB of the containers.", [256, 350, 512], 64);
    private readonly Option<int[]> _atOnce = Several("--at-once", "Jobs at once.", [2, 4, 16, 64], 1);
    private readonly Option<int?> _jobs = new Option<int?>("--jobs") { Description = "Jobs of a run. [default: as many as run at once, at least 24]" }.AtLeast(1);
    private readonly Option<int> _runs = new Option<int>("--runs") { Description = "Runs of each cell.", DefaultValueFactory = _ => 3 }.AtLeast(1);
    private readonly Option<int> _claimRuns = new Option<int>("--claim-runs") { Description = "Runs of this library's ways in containers of --claim-limit.", DefaultValueFactory = _ => 20 }.AtLeast(1);
    private readonly Option<int> _claimLimit = new Option<int>("--claim-limit") { Description = "MiB of the containers about which something is claimed.", DefaultValueFactory = _ => 350 }.AtLeast(64);
    private readonly Option<double> _minutes = new Option<double>("--minutes") { Description = "No run is begun after so many minutes.", DefaultValueFactory = _ => 15 }.Between(0.1, 600);
    private readonly Option<bool> _explain = new("--explain") { Description = "Say of each run who held its memory when it was most." };
    private readonly Option<bool> _quick = new("--quick") { Description = "A few short runs, to see that the program works; the figures are noise." };

    /// <summary>Makes it.</summary>
    public SurvivalCommand()
    {
        _ways.AcceptOnlyFromAmong([All, .. MemoryWay.All.Select(way => way.Name)]);
        Command = new Command("survive", "Makes photographs smaller in memory cgroups, with each way of having memory, and says who was killed.")
        {
            _input, _output, _ways, _limits, _atOnce, _jobs, _runs, _claimRuns, _claimLimit, _minutes, _explain, _quick,
        };
        Command.SetAction((parsed, _) => RunAsync(parsed));
    }

    /// <summary>Gets the command.</summary>
    public Command Command { get; }

    /// <summary>Reads what was asked for; a quick run is a small one wherever nothing else was.</summary>
    public SurvivalLoad Read(ParseResult parsed)
    {
        bool quick = parsed.GetValue(_quick);
        string[] names = parsed.GetRequiredValue(_ways);
        return new SurvivalLoad
        {
            Input = parsed.GetValue(_input) is { } input ? Path.GetFullPath(input) : null,
            Output = parsed.GetValue(_output) ?? Path.Combine("artifacts", "results", ThisMachine.FolderName(ThisMachine.Describe())),
            Ways = names.Contains(All) ? MemoryWay.All : [.. names.Distinct().Select(MemoryWay.Get)],
            Limits = Value(_limits, [350]),
            AtOnce = Value(_atOnce, [16]),
            Jobs = Value(_jobs, 16),
            Runs = Value(_runs, 1),
            ClaimRuns = Value(_claimRuns, 1),
            ClaimLimit = parsed.GetValue(_claimLimit),
            Time = TimeSpan.FromMinutes(parsed.GetValue(_minutes)),
            Explains = parsed.GetValue(_explain),
        };

        T Value<T>(Option<T> option, T quickValue)
            => quick && (parsed.GetResult(option) is null or { Implicit: true }) ? quickValue : parsed.GetValue(option)!;
    }

    private async Task<int> RunAsync(ParseResult parsed)
    {
        SurvivalLoad load = Read(parsed);
        IAnsiConsole console = ResultConsole.Create();
        SurvivalMeasurement measurement = new(load, console);
        return await measurement.RunAsync(title => new MeasurementCommand("LoadResizeSave", "").NewDocument(title, parsed)) ? 0 : 1;
    }

    private static Option<int[]> Several(string name, string description, int[] defaultValue, int least) =>
        new Option<int[]>(name) { Description = description, AllowMultipleArgumentsPerToken = true, DefaultValueFactory = _ => defaultValue }.AtLeast(least);
}
