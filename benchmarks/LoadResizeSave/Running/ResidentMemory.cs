using System;
using System.Buffers.Text;
using System.Diagnostics;
using System.Globalization;
using System.IO;
using System.Linq;
using Microsoft.Win32.SafeHandles;

namespace LoadResizeSave.Running;

/// <summary>Reads how much memory of the machine this process occupies, without allocating where it is read often.</summary>
internal sealed class ResidentMemory : IDisposable
{
    private readonly SafeFileHandle? _statm = OperatingSystem.IsLinux() ? File.OpenHandle("/proc/self/statm") : null;

    /// <summary>Returns the largest value so far, in bytes.</summary>
    public static long ReadPeak()
    {
        if (OperatingSystem.IsLinux())
        {
            string line = File.ReadLines("/proc/self/status").First(line => line.StartsWith("VmHWM:", StringComparison.Ordinal));
            return 1024 * long.Parse(line["VmHWM:".Length..^"kB".Length], CultureInfo.InvariantCulture);
        }

        using Process process = Process.GetCurrentProcess();
        return process.PeakWorkingSet64;
    }

    /// <summary>Returns the value at this moment, in bytes.</summary>
    public long Read()
    {
        if (_statm is null)
        {
            return Environment.WorkingSet;
        }

        // Pages: all, resident, ...
        Span<byte> text = stackalloc byte[128];
        ReadOnlySpan<byte> read = text[..RandomAccess.Read(_statm, text, 0)];
        _ = Utf8Parser.TryParse(read[(read.IndexOf((byte)' ') + 1)..], out long pages, out _);
        return pages * Environment.SystemPageSize;
    }

    /// <inheritdoc/>
    public void Dispose() => _statm?.Dispose();
}
