namespace Allocator.Diagnostics;

/// <summary>
/// Stands where newer targets have the metrics. System.Diagnostics.Metrics would be one more package for netstandard2.0, so there is no
/// meter here, and no listener ever sees a figure.
/// </summary>
internal static class AllocatorMeter
{
    public static bool IsMade => false;

    /// <summary>Does nothing.</summary>
    public static void Ensure()
    {
    }

    /// <summary>Does nothing.</summary>
    public static void Close()
    {
    }
}
