using Measurements.Latency;

namespace Measurements.Tests.Latency;

public class LatencyHistogramTests
{
    [Fact]
    public void Percentile_OfATimeAmongMany_IsAtMostASixteenthAboveIt()
    {
        for (long time = 1; time < 10_000_000_000; time = (time * 5 / 4) + 1)
        {
            LatencyHistogram times = new();
            times.Add(time);
            times.Add(long.MaxValue / 2);
            Assert.InRange(times.Percentile(0.5), time, time + (time / 16));
            Assert.Equal(long.MaxValue / 2, times.Longest);
        }
    }

    [Fact]
    public void Add_OfOtherThreads_CountsAllOnce()
    {
        LatencyHistogram all = new();
        for (int thread = 0; thread < 4; thread++)
        {
            LatencyHistogram times = new();
            for (int i = 0; i < 1000; i++)
            {
                times.Add(i);
            }

            all.Add(times);
        }

        Assert.Equal((4000, 999), (all.Count, all.Longest));
        Assert.Equal(999, all.Percentile(1));
    }
}
