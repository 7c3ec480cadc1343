namespace Allocator.Diagnostics;

/// <summary>Stands where newer targets have the metrics: the base library has none here.</summary>
internal static class AllocatorMeter
{
    public static bool IsMade => false;

    public static void Ensure()
    {
    }

    public static void Close()
    {
    }
}
