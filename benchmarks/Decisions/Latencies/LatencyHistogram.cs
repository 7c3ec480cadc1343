using System;
using System.Diagnostics;
using System.Numerics;

namespace Decisions.Latencies;

/// <summary>
/// Counts latencies in steps of at most 1.6 %, from one tick of the clock to hours, without allocating where it counts. Millions of operations
/// can be kept one by one that way. Not thread-safe.
/// </summary>
internal sealed class LatencyHistogram
{
    private const int StepBits = 6;
    private const int Steps = 1 << StepBits;

    // Values below 64 have a counter each; every doubling above has 64.
    private readonly long[] _counts = new long[(64 - StepBits) * Steps];
    private long _maximum;

    /// <summary>Gets how many latencies were counted.</summary>
    public long Count { get; private set; }

    /// <summary>Gets the longest, in nanoseconds.</summary>
    public double Maximum => ToNanoseconds(_maximum);

    /// <summary>Counts one latency, in ticks of <see cref="Stopwatch"/>.</summary>
    public void Record(long ticks)
    {
        _counts[IndexOf(ticks)]++;
        Count++;
        if (ticks > _maximum)
        {
            _maximum = ticks;
        }
    }

    /// <summary>Forgets everything.</summary>
    public void Clear()
    {
        Array.Clear(_counts);
        _maximum = 0;
        Count = 0;
    }

    /// <summary>
    /// Returns the latency, in nanoseconds, that the given part of all operations did not exceed (nearest rank, rounded up to the end of its step);
    /// of all operations, exactly the longest.
    /// </summary>
    /// <exception cref="InvalidOperationException">Nothing was counted.</exception>
    public double Percentile(double fraction)
    {
        if (Count == 0)
        {
            throw new InvalidOperationException("No latency was recorded.");
        }

        long rank = Math.Max(1, (long)Math.Ceiling(fraction * Count));
        int index = -1;
        for (long seen = 0; seen < rank; seen += _counts[index])
        {
            index++;
        }

        return ToNanoseconds(Math.Min(EndOf(index), _maximum));
    }

    private static int IndexOf(long ticks)
    {
        ulong value = (ulong)Math.Max(0, ticks);
        int shift = Math.Max(0, BitOperations.Log2(value | 1) - StepBits);
        return shift == 0 ? (int)value : (shift * Steps) + (int)(value >> shift);
    }

    private static long EndOf(int index)
    {
        int shift = Math.Max(0, (index / Steps) - 1);
        return (((long)(index - (shift * Steps)) + 1) << shift) - 1;
    }

    private static double ToNanoseconds(long ticks) => ticks * (1e9 / Stopwatch.Frequency);
}
