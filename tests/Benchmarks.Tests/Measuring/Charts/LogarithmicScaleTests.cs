using Measuring.Charts;

namespace Measuring.Tests.Charts;

public class LogarithmicScaleTests
{
    [Fact]
    public void OfTwo_ThreadCounts_MarksEachAtTheSameDistance()
    {
        LogarithmicScale scale = LogarithmicScale.OfTwo(1, 128, 12, AxisUnit.Number);

        Assert.Equal(["1", "2", "4", "8", "16", "32", "64", "128"], scale.Ticks.Select(tick => tick.Label));
        Assert.All(scale.Ticks.Select((tick, i) => (tick, i)), pair => Assert.Equal(pair.i / 7.0, scale.Locate(pair.tick.Value), 9));
    }

    [Fact]
    public void OfTwo_ManySizes_LeavesOutEverySecondMark()
    {
        LogarithmicScale scale = LogarithmicScale.OfTwo(16, 64 << 20, 12, AxisUnit.Bytes);

        Assert.Equal(
            ["16 B", "64 B", "256 B", "1 KB", "4 KB", "16 KB", "64 KB", "256 KB", "1 MB", "4 MB", "16 MB", "64 MB"],
            scale.Ticks.Select(tick => tick.Label));
        Assert.Contains(32, scale.MinorTicks);
    }

    [Fact]
    public void OfTen_FiveDecades_MarksThePowers()
    {
        LogarithmicScale scale = LogarithmicScale.OfTen(3, 270_000, 8);

        Assert.Equal(["10", "100", "1,000", "10,000", "100,000"], scale.Ticks.Select(tick => tick.Label));
        Assert.Equal((2, 500_000), (scale.Minimum, scale.Maximum));
    }

    [Fact]
    public void OfTen_LongNumbers_AreWrittenAsPowers()
    {
        Assert.Equal(["10⁴", "10⁵", "10⁶", "10⁷"], LogarithmicScale.OfTen(10_000, 10_000_000, 5).Ticks.Select(tick => tick.Label));
        Assert.Equal("10⁻⁵", LogarithmicScale.OfTen(1e-5, 0.1, 5).Ticks[0].Label);
    }

    [Fact]
    public void OfTen_TwentyDecades_LeavesSomeOut()
    {
        LogarithmicScale scale = LogarithmicScale.OfTen(1, 1e20, 8);

        Assert.InRange(scale.Ticks.Count, 3, 8);
        Assert.Equal("10⁰", scale.Ticks[0].Label);
    }

    [Fact]
    public void OfTen_OneDecade_MarksNumbersBetween()
        => Assert.Equal(["10", "15", "20", "30", "40", "50"], LogarithmicScale.OfTen(12, 47, 8).Ticks.Select(tick => tick.Label));

    [Theory]
    [InlineData(1, 1)]
    [InlineData(0.3, 0.3)]
    [InlineData(120, 130)]
    [InlineData(9.99, 10.01)]
    [InlineData(1e-7, 1e7)]
    public void OfTen_AnyRange_HoldsItWithTwoMarksAtLeast(double smallest, double largest)
    {
        LogarithmicScale scale = LogarithmicScale.OfTen(smallest, largest, 8);

        Assert.InRange(scale.Locate(smallest), -1e-9, 1);
        Assert.InRange(scale.Locate(largest), 0, 1 + 1e-9);
        Assert.InRange(scale.Ticks.Count, 2, 8);
        Assert.All(scale.Ticks, tick => Assert.InRange(scale.Locate(tick.Value), -1e-9, 1 + 1e-9));
    }

    [Theory]
    [InlineData(0, 10)]
    [InlineData(-1, 10)]
    [InlineData(10, 1)]
    [InlineData(double.NaN, 1)]
    public void OfTen_WhatHasNoLogarithm_Throws(double smallest, double largest)
        => Assert.Throws<ArgumentOutOfRangeException>(() => LogarithmicScale.OfTen(smallest, largest, 8));
}
