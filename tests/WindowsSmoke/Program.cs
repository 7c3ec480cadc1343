using System;
using Allocator;
using WindowsSmoke;

// Drives the Windows path of the library, on Windows or under Wine. The exit code is the number of failures.
Console.WriteLine($"{Environment.OSVersion}, .NET {Environment.Version}");
Checks checks = new();
checks.Run("runs on Windows", () => Checks.That(OperatingSystem.IsWindows(), "a Windows process"));
NativeSource source = new();
checks.Run("source: is the one for Windows", source.IsTheOneForWindows);
checks.Run("source: commits, purges and commits again", source.CommitsPurgesAndCommitsAgain);
checks.Run("source: purges what its neighbours keep", source.PurgesWhatItsNeighboursKeep);
checks.Run("source: allocates with every alignment", source.AllocatesWithEveryAlignment);
checks.Run("source: seals and unseals", source.SealsAndUnseals);
checks.Run("source: refuses the impossible", source.RefusesTheImpossible);
checks.Run("load: of the machine", SystemLoad.OfTheMachine);
checks.Run("load: of a job", SystemLoad.OfAJob);
foreach (SafetyMode mode in (SafetyMode[])[SafetyMode.Sampled, SafetyMode.Guarded])
{
    checks.Run($"{mode}: buffers of every length", () => Watched.BuffersOfEveryLength(mode));
    checks.Run($"{mode}: an overrun is found and recorded", () => Watched.OverrunIsFoundAndRecorded(mode));
}

foreach (NativeMemoryKind kind in Enum.GetValues<NativeMemoryKind>())
{
    using MemoryAllocator allocator = MemoryAllocator.Create(new MemoryAllocatorOptions { Name = kind.ToString(), NativeMemory = kind });
    Scenario scenario = new(allocator);
    checks.Run($"{kind}: owners", scenario.Owners);
    checks.Run($"{kind}: clean owners after dirty ones", scenario.CleanOwners);
    checks.Run($"{kind}: aligned owners", scenario.AlignedOwners);
    checks.Run($"{kind}: group", scenario.Group);
    checks.Run($"{kind}: contiguous group", scenario.ContiguousGroup);
    checks.Run($"{kind}: pixel buffer", scenario.Pixels);
    checks.Run($"{kind}: lease", scenario.Lease);
    checks.Run($"{kind}: pin past dispose", scenario.PinPastDispose);
    checks.Run($"{kind}: use after dispose throws", scenario.UseAfterDispose);
    checks.Run($"{kind}: three waves, trimmed between", scenario.Waves);
    checks.Run($"{kind}: abandoned memory is found", scenario.Abandonment);
    checks.Run($"{kind}: threads", scenario.Threads);
    checks.Run($"{kind}: all goes back", scenario.AllGoesBack);
}

return checks.Failures;
