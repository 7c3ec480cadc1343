namespace Allocator.Concurrency.Seam;

/// <summary>
/// The calls to the garbage collector that the library makes. Finalizers are called by a thread of the scenario, so nothing is registered.
/// </summary>
internal static class Collector
{
    private static int s_collections;
    private static int s_registered;

    /// <summary>Has the library see one collection more. In a schedule this is a step. It sees no others.</summary>
    public static void PretendCollection() => Interlocked.Increment(ref s_collections);

    public static int CollectionCount(int generation) => Volatile.Read(ref s_collections);

    public static void Collect(int generation, GCCollectionMode mode, bool blocking) => System.GC.Collect(generation, mode, blocking);

    public static void Collect(int generation, GCCollectionMode mode, bool blocking, bool compacting) =>
        System.GC.Collect(generation, mode, blocking, compacting);

    public static GCMemoryInfo GetGCMemoryInfo(GCKind kind = GCKind.Any) => System.GC.GetGCMemoryInfo(kind);

    public static long GetTotalMemory(bool forceFullCollection) => System.GC.GetTotalMemory(forceFullCollection);

    public static void KeepAlive(object? target) => System.GC.KeepAlive(target);

    public static void SuppressFinalize(object target) => System.GC.SuppressFinalize(target);

    public static void ReRegisterForFinalize(object target) => Interlocked.Exchange(ref s_registered, 1);

    /// <summary>Returns whether the one object that a scenario finalizes was to be registered since the last call.</summary>
    public static bool TakeRegistered() => Interlocked.Exchange(ref s_registered, 0) != 0;
}
