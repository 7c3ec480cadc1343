using System.Diagnostics;
using System.Linq;
using Measuring.Timing;

namespace HeapPerf.Batches;

/// <summary>Measures what reading the clock costs: it exceeds an allocation from a warm pool.</summary>
internal static class ClockCost
{
    private const int Rounds = 31;
    private const int Readings = 4096;

    /// <summary>Returns the time between two readings with nothing between them, in ticks of <see cref="Stopwatch"/>: the median of some rounds' means.</summary>
    public static double Measure() => Statistics.Median(Enumerable.Range(0, Rounds).Select(_ => MeasureRound()));

    private static double MeasureRound()
    {
        long ticks = 0;
        for (int i = 0; i < Readings; i++)
        {
            long start = Stopwatch.GetTimestamp();
            ticks += Stopwatch.GetTimestamp() - start;
        }

        return (double)ticks / Readings;
    }
}
