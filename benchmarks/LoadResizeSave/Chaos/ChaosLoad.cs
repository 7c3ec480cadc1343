using System.Collections.Generic;
using LoadResizeSave.Containers;

namespace LoadResizeSave.Chaos;

/// <summary>What the user asked for, checked.</summary>
/// <param name="Input">The folder of photographs; null: those of the system, or some that are made.</param>
/// <param name="Output">Where results go.</param>
/// <param name="Scenarios">What goes wrong.</param>
/// <param name="Ways">The ways of having memory.</param>
/// <param name="Runs">The runs of each scenario.</param>
internal sealed record ChaosLoad(
    string? Input, string Output, IReadOnlyList<ChaosScenario> Scenarios, IReadOnlyList<MemoryWay> Ways, int Runs);
