using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.IO;
using System.Linq;
using System.Reflection;
using System.Threading;
using System.Threading.Tasks;

namespace Measuring.Processes;

/// <summary>A child ended without a result.</summary>
public sealed class ChildFailedException : Exception
{
    public ChildFailedException(string message)
        : base(message)
    {
    }
}

/// <summary>Starts a measurement program again.</summary>
public static class ChildProgram
{
    /// <summary>The argument that makes a program a child; the task's name and its request follow.</summary>
    public const string Argument = "--child";

    private const int Orphaned = 3;

    // Longer than any task takes: a measurement of malloc or of photographs runs for seconds, one of fragmentation for minutes.
    private static readonly TimeSpan s_limit = TimeSpan.FromMinutes(30);

    /// <summary>Gets the path of the program that runs now, to be started again.</summary>
    public static string ThisProgram => Assembly.GetEntryAssembly()?.Location is { Length: > 0 } assembly
        ? assembly
        : Environment.ProcessPath ?? throw new InvalidOperationException("The system does not tell this program's path.");

    /// <summary>Runs what <paramref name="start"/> describes to its end, and returns what it wrote to its output.</summary>
    /// <exception cref="ChildFailedException">
    /// It ended with another exit code than 0, or did not end; the message holds what it wrote about that.
    /// </exception>
    public static string Run(ProcessStartInfo start)
    {
        using Process child = Start(start);
        Task<string> errors = child.StandardError.ReadToEndAsync();
        Task<string> output = child.StandardOutput.ReadToEndAsync();
        if (!child.WaitForExit(s_limit))
        {
            child.Kill();
            throw new ChildFailedException($"it did not end within {s_limit.TotalMinutes:0} minutes");
        }

        return child.ExitCode == 0
            ? output.Result
            : throw new ChildFailedException($"exit code {child.ExitCode}. {errors.Result}{output.Result}".Trim());
    }

    /// <summary>
    /// Called by a child: ends it when its parent has gone, however it went. The pipe that is the child's input then ends.
    /// </summary>
    public static void EndWithParent() => new Thread(WatchInput) { IsBackground = true, Name = "parent watch" }.Start();

    /// <summary>Returns how <paramref name="program"/> is started, with all its streams redirected.</summary>
    public static ProcessStartInfo Describe(string program, IReadOnlyList<string> arguments)
    {
        ProcessStartInfo start = new() { RedirectStandardInput = true, RedirectStandardOutput = true, RedirectStandardError = true };
        string executable = Path.ChangeExtension(program, OperatingSystem.IsWindows() ? ".exe" : null);
        if (File.Exists(executable))
        {
            start.FileName = executable;
        }
        else
        {
            start.FileName = Environment.GetEnvironmentVariable("DOTNET_HOST_PATH") ?? "dotnet";
            start.ArgumentList.Add(program);
        }

        foreach (string argument in arguments)
        {
            start.ArgumentList.Add(argument);
        }

        return start;
    }

    public static Process Start(ProcessStartInfo start)
        => Process.Start(start) ?? throw new InvalidOperationException($"{start.FileName} could not be started.");

    /// <summary>Takes away what glibc and the runtime would be told about memory: this program's own start may have set some.</summary>
    public static void ForgetMemorySettings(ProcessStartInfo start)
    {
        string[] prefixes = ["MALLOC_", "GLIBC_TUNABLES", "DOTNET_GC", "COMPlus_GC"];
        foreach (string name in start.Environment.Keys.ToList())
        {
            if (prefixes.Any(prefix => name.StartsWith(prefix, StringComparison.OrdinalIgnoreCase)))
            {
                _ = start.Environment.Remove(name);
            }
        }
    }

    private static void WatchInput()
    {
        using Stream input = Console.OpenStandardInput();
        if (input.ReadByte() < 0)
        {
            Environment.Exit(Orphaned);
        }
    }
}
