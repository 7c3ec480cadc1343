using System.Text.Json;

namespace Measurements.Analyzers;

/// <summary>Asks MSBuild for the very arguments that it would give the compiler.</summary>
internal static class CompilerCommandLine
{
    private static readonly string[] s_properties =
    [
        "DesignTimeBuild=true", "BuildingInsideVisualStudio=true", "ProvideCommandLineArgs=true", "SkipCompilerExecution=true", "BuildProjectReferences=false",

        // Otherwise references would be looked for in Debug, as Visual Studio leaves the choice to its solution.
        "ShouldUnsetParentConfigurationAndPlatform=false",
    ];

    /// <summary>Gives the arguments for a project that has been restored and whose references have been built.</summary>
    /// <exception cref="InvalidOperationException">MSBuild failed.</exception>
    public static string[] Of(string project, string configuration, string? targetFramework)
    {
        ProcessStartInfo start = new("dotnet") { RedirectStandardOutput = true, RedirectStandardError = true };
        IEnumerable<string> properties = [.. s_properties, $"Configuration={configuration}"];
        if (targetFramework is not null)
        {
            properties = properties.Append($"TargetFramework={targetFramework}");
        }

        start.ArgumentList.Add("msbuild");
        start.ArgumentList.Add(project);
        start.ArgumentList.Add("-t:Compile");
        start.ArgumentList.Add("-getItem:CscCommandLineArgs");
        foreach (string property in properties)
        {
            start.ArgumentList.Add($"-p:{property}");
        }

        using Process process = Process.Start(start)!;
        process.ErrorDataReceived += (_, _) => { };
        process.BeginErrorReadLine();
        string output = process.StandardOutput.ReadToEnd();
        process.WaitForExit();
        if (process.ExitCode != 0)
        {
            throw new InvalidOperationException($"MSBuild failed for {Path.GetFileName(project)}: {output}");
        }

        using JsonDocument document = JsonDocument.Parse(output);
        return
        [
            .. document.RootElement.GetProperty("Items").GetProperty("CscCommandLineArgs").EnumerateArray()
                .Select(item => item.GetProperty("Identity").GetString()!),
        ];
    }
}
