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
        Consider(CollectorMemory.TryRead());
        if (RuntimeInformation.IsOSPlatform(OSPlatform.Windows))
        {
            Consider(WindowsMemoryStatus.TryRead());
        }
        else
        {
            Consider(CgroupMemory.TryRead(SystemFiles.TryRead));
            Consider(MemoryInfo.TryRead(SystemFiles.TryRead));
        }

        return lowest == long.MaxValue ? null : lowest;

        void Consider(MemoryUsage? usage)
        {
            if (usage is MemoryUsage known)
            {
                lowest = Math.Min(lowest, known.TotalBytes);
            }
        }
    }
}
