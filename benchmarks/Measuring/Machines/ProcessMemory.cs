using System.Buffers.Text;

namespace Measuring.Machines;

/// <summary>How much memory this process occupies, as the system counts it.</summary>
public static class ProcessMemory
{
    private static readonly SafeFileHandle? s_statm = OperatingSystem.IsLinux() ? File.OpenHandle("/proc/self/statm") : null;

    /// <summary>Returns the memory of the machine that this process occupies (RSS, working set), in bytes.</summary>
    /// <remarks>
    /// On Linux smaps_rollup, which walks the page tables: status and statm lag behind by what each core has not yet folded in.
    /// </remarks>
    public static long ReadResident()
    {
        const string Rollup = "/proc/self/smaps_rollup";
        return File.Exists(Rollup) ? ReadKilobytes(Rollup, "Rss:") : Environment.WorkingSet;
    }

    /// <summary>
    /// As <see cref="ReadResident"/>, without walking the page tables and without allocating where there is <c>/proc</c>: to be read every
    /// few milliseconds.
    /// </summary>
    public static long ReadResidentOften() => OperatingSystem.IsLinux() ? ReadStatm() : Environment.WorkingSet;

    public static long ReadPeakResident()
    {
        if (OperatingSystem.IsLinux())
        {
            return ReadKilobytes("/proc/self/status", "VmHWM:");
        }

        using Process process = Process.GetCurrentProcess();
        return process.PeakWorkingSet64;
    }

    // proc(5): size, resident, shared, text, lib, data (and stack), dt, in pages. Read without a trace on the managed heap, so that it
    // can be read often.
    private static long ReadStatm()
    {
        Span<byte> text = stackalloc byte[128];
        ReadOnlySpan<byte> rest = text[..RandomAccess.Read(s_statm!, text, 0)];
        return Utf8Parser.TryParse(rest[(rest.IndexOf((byte)' ') + 1)..], out long pages, out _)
            ? pages * Environment.SystemPageSize
            : throw new InvalidDataException("/proc/self/statm has no second field.");
    }

    private static long ReadKilobytes(string file, string key)
    {
        string line = File.ReadLines(file).First(line => line.StartsWith(key, StringComparison.Ordinal));
        return 1024 * long.Parse(line[key.Length..^"kB".Length], CultureInfo.InvariantCulture);
    }
}
