using System.Globalization;

namespace ContractSuite;

/// <summary>What of this process is in memory, as its system tells it.</summary>
internal static class ResidentSet
{
    // Exact, where the figures of other files lag behind.
    private const string Rollup = "/proc/self/smaps_rollup";

    public static long ReadBytes()
    {
        if (!File.Exists(Rollup))
        {
            return Environment.WorkingSet;
        }

        foreach (string line in File.ReadLines(Rollup))
        {
            if (line.StartsWith("Rss:", StringComparison.Ordinal))
            {
                return long.Parse(line.Substring(4).Replace("kB", "").Trim(), CultureInfo.InvariantCulture) * 1024;
            }
        }

        throw new InvalidDataException(Rollup);
    }
}
