using System.CommandLine;
using System.IO;
using System.Linq;
using System.Threading.Tasks;
using LoadResizeSave.Containers;
using Measuring;
using Measuring.Machines;
using Measuring.Results;

namespace LoadResizeSave.Chaos;

/// <summary>The command that has things go wrong around jobs in a container.</summary>
internal sealed class ChaosCommand
{
    private const string All = "all";

    private readonly Option<string?> _input = new("--input") { Description = "Folder of photographs of 8 to 15 megapixels. [default: Debian's plasma-workspace-wallpapers, or some that are made]" };
    private readonly Option<string?> _output = new("--output") { Description = "Where the results go. [default: artifacts/results/<processor>]" };
    private readonly Option<string[]> _scenarios = new("--scenarios") { Description = "What goes wrong.", AllowMultipleArgumentsPerToken = true, DefaultValueFactory = _ => [All] };
    private readonly Option<string[]> _ways = new("--ways") { Description = "Ways of having memory.", AllowMultipleArgumentsPerToken = true, DefaultValueFactory = _ => ["reserve"] };
    private readonly Option<int> _runs = new Option<int>("--runs") { Description = "Runs of each scenario.", DefaultValueFactory = _ => 3 }.AtLeast(1);

    /// <summary>Makes it.</summary>
    public ChaosCommand()
    {
        _scenarios.AcceptOnlyFromAmong([All, .. ChaosScenario.All.Select(scenario => scenario.Name)]);
        _ways.AcceptOnlyFromAmong([.. MemoryWay.All.Select(way => way.Name)]);
        Command = new Command("chaos", "Makes photographs smaller in a memory cgroup while things go wrong, and says for each scenario whether it passed.")
        {
            _input, _output, _scenarios, _ways, _runs,
        };
        Command.SetAction((parsed, _) => RunAsync(parsed));
    }

    /// <summary>Gets the command.</summary>
    public Command Command { get; }

    /// <summary>Reads what was asked for.</summary>
    public ChaosLoad Read(ParseResult parsed)
    {
        string[] names = parsed.GetRequiredValue(_scenarios);
        return new ChaosLoad(
            parsed.GetValue(_input) is { } input ? Path.GetFullPath(input) : null,
            parsed.GetValue(_output) ?? Path.Combine("artifacts", "results", ThisMachine.FolderName(ThisMachine.Describe())),
            names.Contains(All) ? ChaosScenario.All : [.. names.Distinct().Select(ChaosScenario.Get)],
            [.. parsed.GetRequiredValue(_ways).Distinct().Select(MemoryWay.Get)],
            parsed.GetValue(_runs));
    }

    private async Task<int> RunAsync(ParseResult parsed)
        => await new ChaosMeasurement(Read(parsed), ResultConsole.Create()).RunAsync(title => new MeasurementCommand("LoadResizeSave", "").NewDocument(title, parsed)) ? 0 : 1;
}
