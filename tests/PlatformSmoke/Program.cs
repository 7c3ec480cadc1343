using System.Reflection;
using System.Runtime.InteropServices;
using System.Runtime.Versioning;
using Allocator;
using Allocator.Native;
using ContractSuite.Loading;
using ContractSuite.Native;
using PlatformSmoke.Linux;
#if NET
using PlatformSmoke.Soaking;
using PlatformSmoke.Windows;
#endif

namespace PlatformSmoke;

/// <summary>
/// Drives the library on systems, runtimes and processors on which the unit tests do not run. The exit code is the number of failures.
/// </summary>
internal static class Program
{
    private const string Usage =
        "Commands: contract [unrecorded] (the default), stress [SECONDS], space, records, touch raw|returned|behind, huge, "
        + "soak [SECONDS] [exhaust], container COMMAND, confined MEGABYTES.";

    private static string? MonoVersion =>
        Type.GetType("Mono.Runtime")
            ?.GetMethod("GetDisplayName", BindingFlags.NonPublic | BindingFlags.Static)
            ?.Invoke(null, null) as string;

    private static string? Asset => typeof(MemoryAllocator).Assembly.GetCustomAttribute<TargetFrameworkAttribute>()?.FrameworkName;

    private static int Main(string[] arguments)
    {
        Console.WriteLine(
            $"{RuntimeInformation.OSDescription}, {RuntimeInformation.ProcessArchitecture}, {IntPtr.Size * 8} bits, pages of "
            + $"{Environment.SystemPageSize}, {Environment.ProcessorCount} processors, "
            + $"{MonoVersion ?? RuntimeInformation.FrameworkDescription}, {Asset}");
        Checks checks = new();
        string command = arguments.Length > 0 ? arguments[0] : "contract";
        switch (command)
        {
            case "contract":
                RunContract(checks, hasRecordFile: !arguments.Contains("unrecorded"));
                break;
            case "stress":
                LoadContract.Run(checks, TimeSpan.FromSeconds(arguments.Length > 1 ? int.Parse(arguments[1]) : 5));
                break;
            case "space":
                AddressSpace.Run(checks);
                break;
            case "records":
                RecordedAddress.Run(checks);
                break;
            case "touch" when arguments.Length > 1:
                // The process has to end here, of a fault.
                GuardPages.Touch(arguments[1]);
                checks.Run($"touch {arguments[1]}: a fault ends the process", static () => false);
                break;
            case "huge":
                HugePageParts.Run(checks);
                break;
#if NET
            case "soak":
                int seconds = arguments.Length > 1 ? int.Parse(arguments[1]) : 60;
                new SoakRun(TimeSpan.FromSeconds(seconds), arguments.Contains("exhaust")).Run(checks);
                break;
            case "container" when arguments.Length > 1:
                Container.Run(checks, arguments[1..]);
                break;
            case "confined" when arguments.Length > 1:
                Confined.Run(checks, long.Parse(arguments[1]));
                break;
#endif
            default:
                Console.Error.WriteLine($"{string.Join(" ", arguments)} is no command. {Usage}");
                return 2;
        }

        return checks.Report();
    }

    private static void RunContract(Checks checks, bool hasRecordFile)
    {
#if NET
        if (OperatingSystem.IsWindows())
        {
            SourceContract.Run<WindowsMemorySource>(checks);
            checks.Run("load: of the machine", SystemLoad.OfTheMachine);
            checks.Run("load: of a job", SystemLoad.OfAJob);

            // Wine's figure does not move with the memory.
            Contract.Run(checks, tellsResidentSet: !SystemLoad.IsWine);
            return;
        }
#else
        checks.Run("runs on Mono", static () => MonoVersion is not null);
        checks.Run("runs the netstandard2.0 asset", static () => Asset == ".NETStandard,Version=v2.0");
#endif
        SourceContract.Run<UnixMemorySource>(checks);
        Contract.Run(checks, hasRecordFile: hasRecordFile);
    }
}
