using System;
using System.Diagnostics;
using System.IO;
using System.Text.Json;
using System.Threading.Tasks;

namespace Decisions.Trimming;

/// <summary>Starts this program again as a <see cref="TrimmingChild"/>.</summary>
internal static class ChildProcess
{
    /// <summary>Runs a child and returns what it found.</summary>
    /// <exception cref="InvalidOperationException">It ended without a result; the message has what it wrote about that.</exception>
    public static TrimmingResult Run(TrimmingRun run)
    {
        using Process child = Process.Start(CreateStart(run)) ?? throw new InvalidOperationException("The child could not be started.");
        Task<string> errors = child.StandardError.ReadToEndAsync();
        string output = child.StandardOutput.ReadToEnd();
        child.WaitForExit();
        return child.ExitCode == 0
            ? JsonSerializer.Deserialize(output, TrimmingJson.Default.TrimmingResult)!
            : throw new InvalidOperationException($"The child for {run.Trigger} ended with exit code {child.ExitCode}. {errors.Result}".TrimEnd());
    }

    private static ProcessStartInfo CreateStart(TrimmingRun run)
    {
        string program = Environment.ProcessPath ?? throw new InvalidOperationException("The system does not tell this program's path.");
        ProcessStartInfo start = new(program) { RedirectStandardOutput = true, RedirectStandardError = true };

        // Started as "dotnet Decisions.dll", the process is the host, and wants to be told what to run.
        if (Path.GetFileNameWithoutExtension(program).Equals("dotnet", StringComparison.OrdinalIgnoreCase))
        {
            start.ArgumentList.Add(typeof(ChildProcess).Assembly.Location);
        }

        start.ArgumentList.Add(TrimmingChild.Argument);
        start.ArgumentList.Add(JsonSerializer.Serialize(run, TrimmingJson.Default.TrimmingRun));
        return start;
    }
}
