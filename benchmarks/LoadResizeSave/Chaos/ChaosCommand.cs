using LoadResizeSave.Containers;

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

    public ChaosCommand()
    {
        Command = new("chaos", "Makes photographs smaller in a memory cgroup while things go wrong, and says what passed.")
        {
            _input, _output, _scenarios, _ways, _runs, _quick,
        };
        ContainerOptions.Measures(Command, "LoadResizeSave-chaos", _output, (parsed, console, empty, _, cancellationToken) =>
            new ChaosMeasurement(Read(parsed), console).RunAsync(empty, cancellationToken));
    }

    public Command Command { get; }

    /// <summary>Reads what was asked for; a quick run has a single run of few jobs.</summary>
    public ChaosLoad Read(ParseResult parsed)
    {
        bool quick = parsed.GetValue(_quick);
        string[] names = parsed.GetRequiredValue(_scenarios);
        IReadOnlyList<ChaosScenario> scenarios
            = names.Contains(ContainerOptions.All) ? ChaosScenario.All : [.. names.Distinct().Select(ChaosScenario.Get)];
        return new ChaosLoad(
            ContainerOptions.GetInput(parsed, _input),
            quick ? [.. scenarios.Select(scenario => scenario with { Jobs = QuickJobs })] : scenarios,
            ContainerOptions.GetWays(parsed.GetRequiredValue(_ways)),
            ContainerOptions.Get(parsed, _runs, quick, 1));
    }
}
