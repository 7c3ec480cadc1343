using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.IO;
using System.Reflection;
using System.Threading;
using System.Threading.Tasks;

namespace Measuring.Processes;

/// <summary>Starts a measurement program again, so that each subject has a process, and with it a heap and a peak, of its own.</summary>
public static class ChildProgram
{
    private const int Orphaned = 3;

    /// <summary>Gets the path of the program that runs now, to be started again.</summary>
    public static string ThisProgram => Assembly.GetEntryAssembly()?.Location is { Length: > 0 } assembly
        ? assembly
        : Environment.ProcessPath ?? throw new InvalidOperationException("The system does not tell this program's path.");

    /// <summary>Runs <paramref name="program"/>, a .dll or an executable, with <paramref name="arguments"/>, and returns what it wrote to its output.</summary>
    /// <exception cref="ChildFailedException">It ended with another exit code than 0; the message holds what it wrote about that.</exception>
    public static string Run(string program, IReadOnlyList<string> arguments)
    {
        using Process child = Start(Describe(program, arguments));
        Task<string> errors = child.StandardError.ReadToEndAsync();
        string output = child.StandardOutput.ReadToEnd();
        child.WaitForExit();
        return child.ExitCode == 0
            ? output
            : throw new ChildFailedException(
                $"{Path.GetFileName(program)} {string.Join(' ', arguments)} ended with exit code {child.ExitCode}. {errors.Result}{output}".Trim());
    }

    /// <summary>Called by a child: ends it when its parent has gone, however it went. The pipe that is the child's input then ends.</summary>
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

    /// <summary>Starts what <paramref name="start"/> describes.</summary>
    public static Process Start(ProcessStartInfo start)
        => Process.Start(start) ?? throw new InvalidOperationException($"{start.FileName} could not be started.");

    private static void WatchInput()
    {
        using Stream input = Console.OpenStandardInput();
        if (input.ReadByte() < 0)
        {
            Environment.Exit(Orphaned);
        }
    }
}
