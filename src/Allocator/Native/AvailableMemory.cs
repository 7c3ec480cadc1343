using System;
using System.Runtime.InteropServices;

namespace Allocator.Native;

/// <summary>How much memory the process may use at most: the lowest of what the machine has, the container allows and the GC was told.</summary>
internal static class AvailableMemory
{
    /// <summary>Gives the figure in bytes, or null where nothing tells it.</summary>
    public static long? TryRead()
    {
        long lowest = long.MaxValue;
        Consider(CollectorMemory.TryReadAvailable());
        if (RuntimeInformation.IsOSPlatform(OSPlatform.Windows))
        {
            Consider(WindowsJobMemory.TryRead()?.TotalBytes);
            Consider(WindowsMemoryStatus.TryRead()?.TotalBytes);
        }
        else
        {
            Consider(CgroupMemory.TryRead(SystemFiles.TryRead)?.TotalBytes);
            Consider(MemoryInfo.TryRead(SystemFiles.TryRead)?.TotalBytes);
        }

        return lowest == long.MaxValue ? null : lowest;

        void Consider(long? bytes) => lowest = Math.Min(lowest, bytes ?? long.MaxValue);
    }
}
