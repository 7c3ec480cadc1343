using System.Collections.Generic;
using System.Linq;
using LoadResizeSave.Containers;

namespace LoadResizeSave.Chaos;

/// <summary>The runs of one scenario with one way of having memory.</summary>
internal sealed class ChaosResult
{
    private readonly List<ContainedRun> _runs = [];

    /// <summary>Makes a result without runs.</summary>
    public ChaosResult(ChaosScenario scenario, MemoryWay way)
    {
        Scenario = scenario;
        Way = way;
    }

    /// <summary>Gets what went wrong around them.</summary>
    public ChaosScenario Scenario { get; }

    /// <summary>Gets the way of having memory.</summary>
    public MemoryWay Way { get; }

    /// <summary>Gets the runs.</summary>
    public IReadOnlyList<ContainedRun> Runs => _runs;

    /// <summary>Gets how many of them passed.</summary>
    public int Passed => _runs.Count(run => FindFaults(run).Count == 0);

    /// <summary>Adds a run.</summary>
    public void Add(ContainedRun run) => _runs.Add(run);

    /// <summary>Returns what is not as it should be in <paramref name="run"/>.</summary>
    public IReadOnlyList<string> FindFaults(ContainedRun run) => [.. Scenario.FindFaults(run, mayRefuse: Way.Claim?.MayFail ?? true)];
}
