using System;
using System.Globalization;
using System.IO;

namespace Decisions.Machines;

/// <summary>Reads how much memory of the machine this process occupies.</summary>
internal static class ResidentMemory
{
    private const string RollUp = "/proc/self/smaps_rollup";

    /// <summary>Gets whether <see cref="ReadDetails"/> can be asked.</summary>
    public static bool HasDetails => File.Exists(RollUp);

    /// <summary>Walks the page tables, which is exact and slow. pre: <see cref="HasDetails"/>.</summary>
    public static ResidentDetails ReadDetails()
    {
        long resident = 0;
        long lazy = 0;
        long huge = 0;
        foreach (string line in File.ReadLines(RollUp))
        {
            resident += Value(line, "Rss:");
            lazy += Value(line, "LazyFree:");
            huge += Value(line, "AnonHugePages:");
        }

        return new ResidentDetails(resident, lazy, huge);
    }

    private static long Value(string line, string name) => line.StartsWith(name, StringComparison.Ordinal)
        ? 1024 * long.Parse(line.AsSpan(name.Length, line.Length - name.Length - "kB".Length), CultureInfo.InvariantCulture)
        : 0;
}
