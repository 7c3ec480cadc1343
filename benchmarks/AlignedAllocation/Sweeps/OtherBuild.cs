using System;
using System.Diagnostics;
using System.IO;

namespace AlignedAllocation.Sweeps;

/// <summary>
/// Finds this program as built in the other configuration. A switch that has the just-in-time compiler leave optimisation out would not be the same:
/// a Debug build is other code, of the library too, and keeps every local variable.
/// </summary>
internal static class OtherBuild
{
    private static readonly string s_assembly = typeof(OtherBuild).Assembly.GetName().Name + ".dll";
    private static readonly string s_project = Path.Combine("benchmarks", "AlignedAllocation", "AlignedAllocation.csproj");

    /// <summary>Returns the path of the program, or null and why there is none. <paramref name="build"/> has it built first, so that it is not an old one.</summary>
    public static string? TryFind(bool build, out string reason)
    {
        reason = string.Empty;
        string program = Path.GetFullPath(Path.Combine(AppContext.BaseDirectory, "..", BuildConfiguration.OtherName.ToLowerInvariant(), s_assembly));
        if (build && !TryBuild(out reason))
        {
            return null;
        }

        if (!File.Exists(program))
        {
            reason = $"there is no {Path.Combine("..", BuildConfiguration.OtherName.ToLowerInvariant(), s_assembly)} beside this program";
            return null;
        }

        return program;
    }

    private static bool TryBuild(out string reason)
    {
        if (FindProject() is not { } project)
        {
            reason = $"this program does not lie in the repository with {s_project}";
            return false;
        }

        ProcessStartInfo start = new(Environment.GetEnvironmentVariable("DOTNET_HOST_PATH") ?? "dotnet")
        {
            ArgumentList = { "build", "--configuration", BuildConfiguration.OtherName, "--nologo", "--verbosity", "quiet", project },
            RedirectStandardOutput = true,
        };

        // "dotnet run" tells its child about itself in variables that another SDK process must not take for its own.
        foreach (string variable in (ReadOnlySpan<string>)["MSBUILD_EXE_PATH", "MSBuildSDKsPath", "MSBuildExtensionsPath", "MSBuildLoadMicrosoftTargetsReadOnly"])
        {
            start.Environment.Remove(variable);
        }

        // A build server that is left running would keep the pipe of its output open, and this program waiting.
        start.Environment["DOTNET_CLI_USE_MSBUILD_SERVER"] = "0";
        start.Environment["MSBUILDDISABLENODEREUSE"] = "1";
        try
        {
            using Process process = Process.Start(start) ?? throw new InvalidOperationException($"{start.FileName} could not be started");
            string output = process.StandardOutput.ReadToEnd();
            process.WaitForExit();
            reason = process.ExitCode == 0 ? string.Empty : $"\"dotnet build\" failed: {output.Trim()}";
            return process.ExitCode == 0;
        }
        catch (System.ComponentModel.Win32Exception exception)
        {
            reason = $"no SDK is found: {exception.Message}";
            return false;
        }
    }

    private static string? FindProject()
    {
        for (DirectoryInfo? folder = new(AppContext.BaseDirectory); folder is not null; folder = folder.Parent)
        {
            string project = Path.Combine(folder.FullName, s_project);
            if (File.Exists(project))
            {
                return project;
            }
        }

        return null;
    }
}
