namespace Allocator.Tests;

/// <summary>What of this process is in memory, as Linux tells it.</summary>
internal static class ResidentSet
{
    public static long Bytes
    {
        get
        {
            if (!OperatingSystem.IsLinux())
            {
                return Environment.WorkingSet;
            }

            // smaps_rollup is exact; the figure of /proc/self/status lags behind by what each core has not yet folded in.
            string line = File.ReadLines("/proc/self/smaps_rollup")
                .First(static text => text.StartsWith("Rss:", StringComparison.Ordinal));
            return long.Parse(line.Split(' ', StringSplitOptions.RemoveEmptyEntries)[1]) * 1024;
        }
    }
}
