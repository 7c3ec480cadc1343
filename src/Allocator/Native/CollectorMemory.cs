#if NET
using System;
#endif

namespace Allocator.Native;

/// <summary>What the GC knows of memory. It honours container limits and job objects, and is as old as the last collection.</summary>
internal static class CollectorMemory
{
    public static MemoryUsage? TryRead()
    {
#if NET
        GCMemoryInfo info = GC.GetGCMemoryInfo();
        return info.TotalAvailableMemoryBytes > 0 ? new MemoryUsage(info.MemoryLoadBytes, info.TotalAvailableMemoryBytes) : null;
#else
        return null;
#endif
    }
}
