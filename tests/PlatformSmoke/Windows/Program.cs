using System;
using Allocator.Native;
using ContractSuite;
using ContractSuite.Native;
using PlatformSmoke.Windows;

// Drives the Windows path of the library, on Windows or under Wine. The exit code is the number of failures.
Console.WriteLine($"{Environment.OSVersion}, .NET {Environment.Version}");
Checks checks = new();
checks.Run("runs on Windows", OperatingSystem.IsWindows);
SourceContract.Run<WindowsMemorySource>(checks);
checks.Run("load: of the machine", SystemLoad.OfTheMachine);
checks.Run("load: of a job", SystemLoad.OfAJob);

// Wine's figure does not move with the memory.
Contract.Run(checks, tellsResidentSet: !SystemLoad.IsWine);
return checks.Report();
