namespace Measuring.Timing;

/// <summary>The few figures that samples are summed up in.</summary>
public static class Statistics
{
    /// <summary>Returns the middle value; of an even number of values, the mean of the two in the middle.</summary>
    public static double Median(IEnumerable<double> values)
    {
        double[] sorted = Sort(values);
        int middle = sorted.Length / 2;
        return sorted.Length % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
    }

    /// <summary>Returns the smallest value that at least <paramref name="fraction"/> of all values do not exceed (nearest rank).</summary>
    public static double Percentile(IEnumerable<double> values, double fraction)
    {
        double[] sorted = Sort(values);
        int rank = (int)Math.Ceiling(fraction * sorted.Length);
        return sorted[Math.Clamp(rank - 1, 0, sorted.Length - 1)];
    }

    private static double[] Sort(IEnumerable<double> values)
    {
        double[] sorted = [.. values];
        if (sorted.Length == 0)
        {
            throw new ArgumentException("There is no value.", nameof(values));
        }

        Array.Sort(sorted);
        return sorted;
    }
}
