using LoadResizeSave.Containers;

namespace LoadResizeSave.Chaos;

/// <summary>The runs of one scenario with one way of having memory.</summary>
internal sealed class ChaosResult(ChaosScenario scenario, MemoryWay way)
{
    private readonly List<ContainedRun> _runs = [];

    public ChaosScenario Scenario { get; } = scenario;

    public MemoryWay Way { get; } = way;

    public IReadOnlyList<ContainedRun> Runs => _runs;

    public int Passed => _runs.Count(run => FindFaults(run).Count == 0);

    public void Add(ContainedRun run) => _runs.Add(run);

    public IReadOnlyList<string> FindFaults(ContainedRun run) => [.. Scenario.FindFaults(run, mayRefuse: Way.Claim?.MayFail ?? true)];
}
