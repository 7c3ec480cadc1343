using System.ComponentModel;

namespace Measurements.Instructions;

/// <summary>Runs a program of the system's.</summary>
internal static class Tool
{
    /// <exception cref="InvalidOperationException">
    /// It is not installed, or it failed; the message says which, and what it wrote.
    /// </exception>
    public static string Run(string program, IEnumerable<string> arguments, IReadOnlyDictionary<string, string>? environment = null)
    {
        ProcessStartInfo start = new(program, arguments) { RedirectStandardOutput = true, RedirectStandardError = true };
        foreach ((string name, string value) in environment ?? new Dictionary<string, string>())
        {
            start.Environment[name] = value;
        }

        using Process process = Start(start);
        Task<string> errors = process.StandardError.ReadToEndAsync();
        string output = process.StandardOutput.ReadToEnd();
        process.WaitForExit();
        return process.ExitCode == 0 ? output : throw new InvalidOperationException($"{program} ended with exit code "
            + $"{process.ExitCode}. {errors.Result}{output}".Trim());
    }

    private static Process Start(ProcessStartInfo start)
    {
        try
        {
            return Process.Start(start)!;
        }
        catch (Win32Exception exception)
        {
            throw new InvalidOperationException($"{start.FileName} could not be started ({exception.Message}). On Debian: apt-get "
                + "install valgrind binutils clang zlib1g-dev", exception);
        }
    }
}
