using System.Diagnostics;
using System.Globalization;

namespace Allocator.Tests.Fakes;

/// <summary>How busy other processes keep the machine, from a moment on. Linux only; elsewhere the machine counts as idle.</summary>
internal sealed class OtherProcesses
{
    /// <summary>From this share on, times and what depends on them are not the library's.</summary>
    private const double MostShare = 0.15;

    private const int DisturbedExitCode = 77;
    private const int Comparisons = 3;

    private readonly (long Ticks, double Seconds) _machine = ReadMachine();
    private readonly TimeSpan _own = ReadOwn();

    /// <summary>Gets the share of the processors' time that other processes have used since this was made; 0 to 1.</summary>
    public double Share
    {
        get
        {
            (long ticks, double seconds) = ReadMachine();
            double all = (seconds - _machine.Seconds) * Environment.ProcessorCount;
            double busy = (ticks - _machine.Ticks) / 100.0; // USER_HZ
            return all <= 0 ? 0 : Math.Clamp((busy - (ReadOwn() - _own).TotalSeconds) / all, 0, 1);
        }
    }

    /// <summary>
    /// In a child: compares, up to three times if it fails while other processes are busy. Returns an exit code; a failure on an idle
    /// machine is an assertion.
    /// </summary>
    public static int Judge(Func<string?> compare)
    {
        for (int i = 0; i < Comparisons; i++)
        {
            OtherProcesses others = new();
            if (compare() is not string failure)
            {
                return RemoteExecutor.SuccessExitCode;
            }

            Assert.True(others.Share > MostShare, failure);
        }

        return DisturbedExitCode;
    }

    /// <summary>In the test: waits for the child, and skips if all its comparisons were disturbed.</summary>
    public static void SkipIfDisturbed(RemoteInvokeHandle child)
    {
        try
        {
            child.Dispose();
        }
        catch (RemoteExecutionException exception)
        {
            Skip.If(
                exception.Message.Contains($"ended with exit code {DisturbedExitCode},", StringComparison.Ordinal),
                $"Needs an idle machine: in each comparison other processes had more than {MostShare:P0} of the processors' time.");
            throw;
        }
    }

    private static TimeSpan ReadOwn()
    {
        using Process self = Process.GetCurrentProcess();
        return self.TotalProcessorTime;
    }

    // Its first line: user, nice, system, idle, iowait, irq, softirq, steal.
    private static (long Ticks, double Seconds) ReadMachine()
    {
        if (!OperatingSystem.IsLinux())
        {
            return default;
        }

        long[] ticks = [.. File.ReadLines("/proc/stat").First().Split(' ', StringSplitOptions.RemoveEmptyEntries)
            .Skip(1).Take(8).Select(static text => long.Parse(text, CultureInfo.InvariantCulture))];
        return (ticks.Sum() - ticks[3] - ticks[4], Stopwatch.GetTimestamp() / (double)Stopwatch.Frequency);
    }
}
