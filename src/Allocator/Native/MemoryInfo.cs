using System;
using Allocator.Diagnostics;

namespace Allocator.Native;

/// <summary>The whole machine's memory, as <c>/proc/meminfo</c> tells it.</summary>
internal static class MemoryInfo
{
    private const string Path = "/proc/meminfo";

    public static MemoryLoad? TryRead(Func<string, string?> readFile)
    {
        string? text = readFile(Path);

        // MemAvailable is the kernel's own estimate of what can be had without swapping; page cache counts as available.
        return SystemFiles.FindNumber(text, "MemTotal") is long total and > 0
            && SystemFiles.FindNumber(text, "MemAvailable") is long available && available >= 0 && available <= total
            ? new MemoryLoad { Source = MemoryLoadSource.Machine, Origin = Path, UsedBytes = total - available, TotalBytes = total }
            : null;
    }
}
