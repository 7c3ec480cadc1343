using System;
using System.Diagnostics;
using System.IO;
using System.Text.Json;
using System.Threading.Tasks;
using Measuring.Natives;
using Measuring.Processes;

namespace HeapPerf.Children;

/// <summary>Starts this program again, so that every figure of peak memory is that of one heap in a fresh process.</summary>
internal static class ChildProcess
{
    /// <summary>The argument that makes the program a child; the request follows.</summary>
    public const string Argument = "--child";

    private static readonly TimeSpan s_limit = TimeSpan.FromMinutes(2);

    /// <summary>Runs a child and returns what it found.</summary>
    /// <exception cref="ChildFailedException">It ended without a result, or did not end.</exception>
    public static ChildResult Run(ChildRequest request)
    {
        using Process child = Process.Start(Prepare(request)) ?? throw new ChildFailedException("the system did not start it");
        Task<string> errors = child.StandardError.ReadToEndAsync();
        Task<string> output = child.StandardOutput.ReadToEndAsync();
        if (!child.WaitForExit(s_limit))
        {
            child.Kill();
            throw new ChildFailedException($"it did not end within {s_limit.TotalSeconds:0} s");
        }

        try
        {
            return child.ExitCode == 0
                ? JsonSerializer.Deserialize(output.Result, ChildJson.Default.ChildResult)!
                : throw new ChildFailedException($"exit code {child.ExitCode}. {errors.Result}".Trim());
        }
        catch (JsonException)
        {
            throw new ChildFailedException($"it wrote \"{output.Result.Trim()}\" instead of a result. {errors.Result}".Trim());
        }
    }

    private static ProcessStartInfo Prepare(ChildRequest request)
    {
        string program = Environment.ProcessPath ?? throw new InvalidOperationException("The system does not tell this program's path.");
        ProcessStartInfo start = new(program) { RedirectStandardInput = true, RedirectStandardOutput = true, RedirectStandardError = true };

        // Started as "dotnet HeapPerf.dll", the process is the host, and wants to be told what to run.
        if (Path.GetFileNameWithoutExtension(program).Equals("dotnet", StringComparison.OrdinalIgnoreCase))
        {
            start.ArgumentList.Add(typeof(ChildProcess).Assembly.Location);
        }

        start.ArgumentList.Add(Argument);
        start.ArgumentList.Add(JsonSerializer.Serialize(request, ChildJson.Default.ChildRequest));
        NativeAllocatorEnvironment.Prepare(start.Environment);

        // 10 ms, in hexadecimal as the runtime reads it. By default the compiler waits until nothing new has been called for 100 ms
        // before it counts calls, and a child's code would be slow for much of its short life.
        start.Environment["DOTNET_TC_CallCountingDelayMs"] = "0A";
        return start;
    }
}
