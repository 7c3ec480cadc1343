namespace Allocator.Diagnostics;

/// <summary>Stands where newer targets have the metrics: the base library has none here.</summary>
internal static class UsageRegistry
{
    public static void Register(IUsageSource source) => _ = AllocatorEventSource.Log;

    public static void End(IUsageSource source)
    {
    }
}
