using System;
using System.Reflection;
using System.Runtime.Versioning;
using Allocator;
using Allocator.Native;
using ContractSuite;
using ContractSuite.Native;

// Drives the netstandard2.0 asset in a program for .NET Framework, on Mono. The exit code is the number of failures.
string? version = Type.GetType("Mono.Runtime")
    ?.GetMethod("GetDisplayName", BindingFlags.NonPublic | BindingFlags.Static)
    ?.Invoke(null, null) as string;
Console.WriteLine($"{Environment.OSVersion}, Mono {version}");
Checks checks = new();
checks.Run("runs on Mono", () => version is not null);
checks.Run("runs the netstandard2.0 asset", () =>
    typeof(MemoryAllocator).Assembly.GetCustomAttribute<TargetFrameworkAttribute>()?.FrameworkName == ".NETStandard,Version=v2.0");
SourceContract.Run<UnixMemorySource>(checks);
Contract.Run(checks);
return checks.Report();
