using System;
using Interleaving;

namespace Allocator.Concurrency.Seam;

/// <summary>The calls to the garbage collector that the library makes. In a schedule, finalizers are called by a thread of the scenario, so nothing is registered there.</summary>
internal static class Collector
{
    public static int CollectionCount(int generation) => Explorer.IsExploring ? 0 : System.GC.CollectionCount(generation);

    public static void Collect(int generation, GCCollectionMode mode, bool blocking) => System.GC.Collect(generation, mode, blocking);

    public static GCMemoryInfo GetGCMemoryInfo(GCKind kind = GCKind.Any) => System.GC.GetGCMemoryInfo(kind);

    public static void KeepAlive(object? target) => System.GC.KeepAlive(target);

    public static void SuppressFinalize(object target) => System.GC.SuppressFinalize(target);

    public static void ReRegisterForFinalize(object target)
    {
        if (!Explorer.IsExploring)
        {
            System.GC.ReRegisterForFinalize(target);
        }
    }
}
