using System.Reflection;

namespace Measuring.Processes;

/// <summary>A child ended without a result.</summary>
public sealed class ChildFailedException(string message) : Exception(message);

/// <summary>Starts programs: a measurement program again, or one of the system's.</summary>
public static class ChildProgram
{
    /// <summary>The argument that makes a program a child; the task's name and its request follow.</summary>
    public const string Argument = "--child";

    private const int Orphaned = 3;

    // Longer than any task takes: a measurement of malloc or of photographs runs for seconds, one of fragmentation for minutes.
    private static readonly TimeSpan s_limit = TimeSpan.FromMinutes(30);

    /// <summary>Gets the path of the program that runs now, to be started again.</summary>
    public static string ThisProgram => Assembly.GetEntryAssembly()!.Location;

    /// <summary>Runs what <paramref name="start"/> describes to its end, and returns what it wrote to its output.</summary>
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

    /// <summary>Ends this process when its parent has gone, however it went: the pipe that is its input then ends.</summary>
    public static void EndWithParent() => new Thread(WatchInput) { IsBackground = true, Name = "parent watch" }.Start();

    /// <summary>Returns how <paramref name="program"/>, an assembly of .NET, is started.</summary>
    public static ProcessStartInfo Describe(string program, params IEnumerable<string> arguments)
    {
        string executable = Path.ChangeExtension(program, OperatingSystem.IsWindows() ? ".exe" : null);
        return File.Exists(executable)
            ? new ProcessStartInfo(executable, arguments)
            : new ProcessStartInfo(Environment.GetEnvironmentVariable("DOTNET_HOST_PATH") ?? "dotnet", [program, .. arguments]);
    }

    /// <summary>Starts it with all its streams redirected.</summary>
    public static Process Start(ProcessStartInfo start)
    {
        (start.RedirectStandardInput, start.RedirectStandardOutput, start.RedirectStandardError) = (true, true, true);
        try
        {
            return Process.Start(start)!;
        }
        catch (System.ComponentModel.Win32Exception exception)
        {
            throw new ChildFailedException($"{start.FileName} could not be started: {exception.Message}");
        }
    }

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
