namespace Measuring.Tests.Timing;

public class StatisticsTests
{
    [Theory]
    [InlineData(new double[] { 7 }, 7)]
    [InlineData(new double[] { 9, 1, 5 }, 5)]
    [InlineData(new double[] { 9, 1, 5, 6 }, 5.5)]
    public void Median_OddAndEvenCounts_IsTheMiddle(double[] values, double expected)
        => Assert.Equal(expected, Statistics.Median(values));

    [Theory]
    [InlineData(0, 15)]
    [InlineData(0.05, 15)]
    [InlineData(0.3, 20)]
    [InlineData(0.4, 20)]
    [InlineData(0.5, 35)]
    [InlineData(0.75, 40)]
    [InlineData(1, 50)]
    public void Percentile_FiveValues_IsTheNearestRank(double fraction, double expected)
        => Assert.Equal(expected, Statistics.Percentile([50, 20, 15, 40, 35], fraction));

    [Fact]
    public void Median_NoValues_Throws() => Assert.Throws<ArgumentException>(() => Statistics.Median([]));

    [Fact]
    public void Median_OfACallersArray_LeavesItAsItWas()
    {
        double[] values = [3, 1, 2];

        _ = Statistics.Median(values);

        Assert.Equal([3, 1, 2], values);
    }
}
