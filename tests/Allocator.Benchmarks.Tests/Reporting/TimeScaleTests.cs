using Allocator.Benchmarks.Reporting;
using Xunit;

namespace Allocator.Benchmarks.Tests.Reporting;

public class TimeScaleTests
{
    [Theory]
    [InlineData(0.5, "ns", "N2")]
    [InlineData(1, "ns", "N2")]
    [InlineData(21.3, "ns", "N1")]
    [InlineData(999, "ns", "N0")]
    [InlineData(1_000, "µs", "N2")]
    [InlineData(35_000, "µs", "N1")]
    [InlineData(1_840_000, "ms", "N2")]
    [InlineData(2_000_000_000, "s", "N2")]
    public void For_OneTime_GivesItThreeDigits(double time, string unit, string format)
    {
        TimeScale scale = TimeScale.For([time]);

        Assert.Equal((unit, format), (scale.Unit, scale.Format));
    }

    [Fact]
    public void For_SeveralTimes_GoesByTheShortest()
        => Assert.Equal("ns", TimeScale.For([45_000_000, 21.3, 400]).Unit);

    [Fact]
    public void For_FailuresAmongTheTimes_LeavesThemOut()
        => Assert.Equal("ms", TimeScale.For([0, 45_000_000]).Unit);

    [Fact]
    public void For_NoTime_IsNanoseconds()
        => Assert.Equal("ns", TimeScale.For([]).Unit);

    [Fact]
    public void Convert_Nanoseconds_GivesTheUnit()
    {
        TimeScale scale = TimeScale.For([1_840_000]);

        Assert.Equal(45.5, scale.Convert(45_500_000));
        Assert.Null(scale.Convert(null));
    }

    [Fact]
    public void Write_Time_HasDigitsAndUnit()
        => Assert.Equal("1.84 ms", TimeScale.For([1_840_000]).Write(1_840_000));
}
