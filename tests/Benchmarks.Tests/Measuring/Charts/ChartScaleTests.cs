using Measuring.Charts;

namespace Measuring.Tests.Charts;

public class ChartScaleTests
{
    [Theory]
    [InlineData(17.8, true, 20, "0 5 10 15 20")]
    [InlineData(17.8, false, 17.8, "0 5 10 15")]
    [InlineData(0.34, true, 0.35, "0 0.05 0.1 0.15 0.2 0.25 0.3 0.35")]
    [InlineData(0, true, 0.0002, "0 0.0002")]
    public void FromZero_ALargestValue_HasRoundMarks(double largest, bool roundUp, double maximum, string marks)
    {
        ChartScale scale = LinearScale.FromZero(largest, ticks: 8, roundUp);

        Assert.Equal(maximum, scale.Maximum, 9);
        Assert.Equal(marks, string.Join(' ', scale.Ticks.Select(tick => tick.Label)));
        Assert.Equal((0, 1), (scale.Locate(0), scale.Locate(scale.Maximum)));
    }

    [Theory]
    [InlineData(1.8, 13_000, false, false, "1 10 100 1,000 10,000 100,000")]
    [InlineData(1000, 1000, false, false, "1,000 10,000")]
    [InlineData(1, 128, true, false, "1 2 4 8 16 32 64 128")]
    [InlineData(64 << 10, 64 << 20, true, true, "64 KB,128 KB,256 KB,512 KB,1 MB,2 MB,4 MB,8 MB,16 MB,32 MB,64 MB")]
    public void Logarithmic_ValuesBetween_EndsAtThePowersAround(double smallest, double largest, bool isTwo, bool isBytes, string marks)
    {
        ChartScale scale = ChartScale.Logarithmic(smallest, largest, isTwo, isBytes);

        Assert.Equal(marks, string.Join(isBytes ? ',' : ' ', scale.Ticks.Select(tick => tick.Label)));
        Assert.Equal((0, 1), (scale.Locate(scale.Minimum), scale.Locate(scale.Maximum)));
    }
}
