using System;
using System.IO;
using System.Linq;
using System.Runtime.InteropServices;

namespace LoadResizeSave.Running;

/// <summary>Names what the figures were measured on: a figure without it says nothing.</summary>
internal static class Machine
{
    /// <summary>Gets processor, cores, memory, operating system and runtime in one line.</summary>
    public static string Description
    {
        get
        {
            double gigabytes = GC.GetGCMemoryInfo().TotalAvailableMemoryBytes / 1e9;
            return FormattableString.Invariant(
                $"{Processor}, {Environment.ProcessorCount} cores, {gigabytes:0} GB, {RuntimeInformation.OSDescription}, {RuntimeInformation.FrameworkDescription}");
        }
    }

    private static string Processor
    {
        get
        {
            const string Information = "/proc/cpuinfo";
            string? line = File.Exists(Information) ? File.ReadLines(Information).FirstOrDefault(line => line.StartsWith("model name", StringComparison.Ordinal)) : null;
            return line is null
                ? Environment.GetEnvironmentVariable("PROCESSOR_IDENTIFIER") ?? RuntimeInformation.ProcessArchitecture.ToString()
                : line[(line.IndexOf(':') + 1)..].Trim();
        }
    }
}
