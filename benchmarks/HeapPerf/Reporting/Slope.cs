using System.Collections.Generic;

namespace HeapPerf.Reporting;

/// <summary>How a figure grows with the number of threads.</summary>
internal static class Slope
{
    /// <summary>Returns the last value divided by the first; null where either is missing or the first is not above zero.</summary>
    public static double? Of(IReadOnlyList<double?> series) => series[0] > 0 ? series[^1] / series[0] : null;
}
