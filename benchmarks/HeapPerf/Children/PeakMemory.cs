using System;
using System.Diagnostics;
using System.Globalization;
using System.IO;
using System.Linq;

namespace HeapPerf.Children;

/// <summary>Reads the most memory of the machine that this process has occupied so far.</summary>
internal static class PeakMemory
{
    /// <summary>Returns it, in bytes.</summary>
    public static long Read()
    {
        const string Status = "/proc/self/status";
        if (OperatingSystem.IsLinux())
        {
            string line = File.ReadLines(Status).First(line => line.StartsWith("VmHWM:", StringComparison.Ordinal));
            return 1024 * long.Parse(line["VmHWM:".Length..^"kB".Length], CultureInfo.InvariantCulture);
        }

        using Process process = Process.GetCurrentProcess();
        return process.PeakWorkingSet64;
    }
}
