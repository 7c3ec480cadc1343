using System;
using System.Reflection;
using System.Runtime.Versioning;
using Allocator;
using Allocator.Native;
using ContractSuite;
using ContractSuite.Native;

// Drives the netstandard2.0 asset in a program for .NET Framework, on Mono. The exit code is the number of failures.
Console.WriteLine($"{Environment.OSVersion}, Mono {MonoRuntime.Version}");
Checks checks = new();
checks.Run("runs on Mono", () => MonoRuntime.Version is not null);
checks.Run("runs the netstandard2.0 asset", () =>
    typeof(MemoryAllocator).Assembly.GetCustomAttribute<TargetFrameworkAttribute>()?.FrameworkName == ".NETStandard,Version=v2.0");
SourceContract.Run<UnixMemorySource>(checks);
Contract.Run(checks);
return checks.Report();
