using System;
using System.Buffers.Text;
using System.Globalization;
using System.IO;
using Microsoft.Win32.SafeHandles;

namespace Decisions.Machines;

/// <summary>Reads how much memory of the machine this process occupies.</summary>
internal static class ResidentMemory
{
    private const string RollUp = "/proc/self/smaps_rollup";

    private static readonly SafeFileHandle? s_statm = OperatingSystem.IsLinux() ? File.OpenHandle("/proc/self/statm") : null;

    /// <summary>Gets whether <see cref="ReadDetails"/> can be asked.</summary>
    public static bool HasDetails => File.Exists(RollUp);

    /// <summary>Returns the resident bytes, as the system tells everybody. Allocates nothing where there is <c>/proc</c>.</summary>
    public static long Read()
    {
        if (s_statm is null)
        {
            return Environment.WorkingSet;
        }

        // Pages: all, resident, ...
        Span<byte> text = stackalloc byte[128];
        ReadOnlySpan<byte> read = text[..RandomAccess.Read(s_statm, text, 0)];
        _ = Utf8Parser.TryParse(read[(read.IndexOf((byte)' ') + 1)..], out long pages, out _);
        return pages * Environment.SystemPageSize;
    }

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
