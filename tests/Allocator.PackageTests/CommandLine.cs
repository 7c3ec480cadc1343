using System.Diagnostics;

namespace Allocator.PackageTests;

/// <summary>Runs commands as from a shell of its own, not as a child of the build that runs these tests.</summary>
internal static class CommandLine
{
    private static readonly TimeSpan s_patience = TimeSpan.FromMinutes(5);

    /// <summary>Returns what the command printed.</summary>
    /// <exception cref="InvalidOperationException">It failed, or took too long; the message has its output.</exception>
    public static string Run(string command, string folder, IReadOnlyDictionary<string, string> environment, params string[] arguments)
    {
        ProcessStartInfo start = new(command, arguments)
        {
            WorkingDirectory = folder,
            RedirectStandardOutput = true,
            RedirectStandardError = true,
        };

        // What the outer `dotnet test` sets for itself would be obeyed by the inner build.
        foreach (string name in start.Environment.Keys.Where(IsOfTheOuterBuild).ToArray())
        {
            start.Environment.Remove(name);
        }

        // A build server that outlives the command would hold the pipes open. The compiler's does not.
        start.Environment["DOTNET_CLI_USE_MSBUILD_SERVER"] = "0";
        start.Environment["MSBUILDDISABLENODEREUSE"] = "1";

        // Programs of seconds: profiling the compiler's code takes a quarter of a compilation.
        start.Environment["DOTNET_TieredPGO"] = "0";
        foreach ((string name, string value) in environment)
        {
            start.Environment[name] = value;
        }

        using Process process = Process.Start(start)!;
        Task<string> output = process.StandardOutput.ReadToEndAsync();
        Task<string> errors = process.StandardError.ReadToEndAsync();
        if (!process.WaitForExit(s_patience))
        {
            process.Kill(entireProcessTree: true);
        }

        string printed = output.GetAwaiter().GetResult() + errors.GetAwaiter().GetResult();
        return process.ExitCode == 0
            ? printed
            : throw new InvalidOperationException($"{command} {string.Join(' ', arguments)}\nin {folder}: exit code "
                + $"{process.ExitCode}\n{printed}");
    }

    private static bool IsOfTheOuterBuild(string name) =>
        name.StartsWith("MSBUILD", StringComparison.OrdinalIgnoreCase) || name.StartsWith("VSTEST", StringComparison.OrdinalIgnoreCase)
        || name.Equals("RunAnalyzers", StringComparison.OrdinalIgnoreCase);
}
