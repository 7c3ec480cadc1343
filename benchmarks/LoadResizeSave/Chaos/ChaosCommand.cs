using System.Collections.Generic;
using System.CommandLine;
using System.IO;
using System.Linq;
using System.Threading;
using System.Threading.Tasks;
using LoadResizeSave.Containers;
using Measuring.Results;

namespace LoadResizeSave.Chaos;

/// <summary>The command that has things go wrong around jobs in a container.</summary>
internal sealed class ChaosCommand
{
    private const int QuickJobs = 24;

    private readonly Option<string?> _input = ContainerOptions.Input();
    private readonly Option<string?> _output = ContainerOptions.Output();
    private readonly Option<string[]> _scenarios = ContainerOptions.Names(
        "--scenarios", "What goes wrong.", ChaosScenario.All.Select(scenario => scenario.Name), ContainerOptions.All);

    private readonly Option<string[]> _ways = ContainerOptions.Ways("reserve");
    private readonly Option<int> _runs = ContainerOptions.Number("--runs", "Runs of each scenario.", 3);
    private readonly Option<bool> _quick = ContainerOptions.Quick();

    /// <summary>Makes it.</summary>
    public ChaosCommand()
    {
        Command = new("chaos", "Makes photographs smaller in a memory cgroup while things go wrong, and says what passed.")
        {
            _input, _output, _scenarios, _ways, _runs, _quick,
        };
        Command.SetAction(RunAsync);
    }

    /// <summary>Gets the command.</summary>
    public Command Command { get; }

    /// <summary>Reads what was asked for; a quick run has a single run of few jobs.</summary>
    public ChaosLoad Read(ParseResult parsed)
    {
        bool quick = parsed.GetValue(_quick);
        string[] names = parsed.GetRequiredValue(_scenarios);
        IReadOnlyList<ChaosScenario> scenarios
            = names.Contains(ContainerOptions.All) ? ChaosScenario.All : [.. names.Distinct().Select(ChaosScenario.Get)];
        return new ChaosLoad(
            parsed.GetValue(_input) is { } input ? Path.GetFullPath(input) : null,
            ContainerOptions.GetOutput(parsed.GetValue(_output)),
            quick ? [.. scenarios.Select(scenario => scenario with { Jobs = QuickJobs })] : scenarios,
            ContainerOptions.GetWays(parsed.GetRequiredValue(_ways)),
            ContainerOptions.Get(parsed, _runs, quick, 1));
    }

    private async Task<int> RunAsync(ParseResult parsed, CancellationToken cancellationToken)
    {
        ChaosMeasurement measurement = new(Read(parsed), ResultConsole.Create());
        return await measurement.RunAsync(ContainerOptions.Documents(parsed), cancellationToken) ? 0 : 1;
    }
}
