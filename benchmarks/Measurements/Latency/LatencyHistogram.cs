namespace Measurements.Latency;

/// <summary>Counts times by their size, to an eighth: what millions of them were, in one kilobyte. Of one thread.</summary>
internal sealed class LatencyHistogram
{
    // Sixteen counts for each power of two, so that a count stands for times that differ by less than a sixteenth.
    private const int Steps = 16;

    private readonly long[] _counts = new long[64 * Steps];

    public long Count { get; private set; }

    public long Longest { get; private set; }

    public void Add(long nanoseconds)
    {
        _counts[IndexOf(nanoseconds)]++;
        Count++;
        Longest = Math.Max(Longest, nanoseconds);
    }

    public void Add(LatencyHistogram other)
    {
        for (int i = 0; i < _counts.Length; i++)
        {
            _counts[i] += other._counts[i];
        }

        Count += other.Count;
        Longest = Math.Max(Longest, other.Longest);
    }

    /// <summary>Returns the time, rounded up to a step, that at least this share of all does not exceed.</summary>
    public long Percentile(double fraction)
    {
        long rank = Math.Max(1, (long)Math.Ceiling(fraction * Count));
        long seen = 0;
        for (int i = 0; i < _counts.Length; i++)
        {
            seen += _counts[i];
            if (seen >= rank)
            {
                return Math.Min(Longest, FirstOf(i + 1) - 1);
            }
        }

        throw new InvalidOperationException("There is no time.");
    }

    private static int IndexOf(long value)
    {
        if (value < Steps)
        {
            return (int)Math.Max(0, value);
        }

        int shift = BitOperations.Log2((ulong)value) - BitOperations.Log2(Steps);
        return (shift * Steps) + (int)(value >> shift);
    }

    private static long FirstOf(int index) => index < 2 * Steps ? index : (long)(Steps + (index % Steps)) << ((index / Steps) - 1);
}
