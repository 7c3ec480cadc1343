using System;
using System.Globalization;

namespace Allocator.Native;

/// <summary>Linux's pressure stall information: how long threads waited for memory.</summary>
internal static class PressureStall
{
    /// <summary>The file of the whole machine. A group of cgroup version 2 has one of its own.</summary>
    public const string Machine = "/proc/pressure/memory";

    private const string Average = "avg10=";

    /// <summary>Reads for what part of the last ten seconds, in percent, some thread was stalled; null where the file does not tell.</summary>
    /// <remarks>
    /// The line "some", not "full": the latter wants all threads stalled at once, which a service of many threads is long after it has become slow.
    /// </remarks>
    public static double? TryRead(Func<string, string?> readFile, string path)
    {
        foreach (string line in (readFile(path) ?? string.Empty).Split('\n'))
        {
            string[] parts = line.Split([' '], StringSplitOptions.RemoveEmptyEntries);
            if (parts.Length >= 2 && parts[0] == "some" && parts[1].StartsWith(Average, StringComparison.Ordinal)
                && double.TryParse(parts[1].Substring(Average.Length), NumberStyles.AllowDecimalPoint, CultureInfo.InvariantCulture, out double percent)
                && percent is >= 0 and <= 100)
            {
                return percent;
            }
        }

        return null;
    }
}
