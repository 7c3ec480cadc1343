namespace Allocator.Concurrency.Seam;

/// <summary>
/// The calls to the garbage collector that the library makes. In a schedule, finalizers are called by a thread of the scenario, so nothing
/// is registered there.
/// </summary>
internal static class Collector
{
    private static int s_collections;

    /// <summary>Has the library see one collection more. In a schedule this is a step. It sees no others.</summary>
    public static void PretendCollection() => Interlocked.Increment(ref s_collections);

    public static int CollectionCount(int generation) => Volatile.Read(ref s_collections);

    public static void Collect(int generation, GCCollectionMode mode, bool blocking) => System.GC.Collect(generation, mode, blocking);

    public static void Collect(int generation, GCCollectionMode mode, bool blocking, bool compacting) =>
        System.GC.Collect(generation, mode, blocking, compacting);

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
