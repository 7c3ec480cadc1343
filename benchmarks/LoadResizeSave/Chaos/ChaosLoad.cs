using LoadResizeSave.Containers;

namespace LoadResizeSave.Chaos;

/// <summary>What the user asked for, checked.</summary>
/// <param name="Input">The folder of photographs; null: those of the system, or some that are made.</param>
internal sealed record ChaosLoad(
    string? Input, IReadOnlyList<ChaosScenario> Scenarios, IReadOnlyList<MemoryWay> Ways, int Runs);
