using Measuring.Charts;

namespace Measuring.Tests.Charts;

public class LinearScaleTests
{
    [Theory]
    [InlineData(0.004)]
    [InlineData(7)]
    [InlineData(999)]
    [InlineData(123456)]
    public void FromZero_AnyMaximum_HasFewMarksThatReachIt(double largest)
    {
        LinearScale scale = LinearScale.FromZero(largest, ticks: 6, roundUp: true);

        Assert.InRange(scale.Ticks.Count, 2, 8);
        Assert.Equal(0, scale.Ticks[0].Value);
        Assert.True(scale.Maximum >= largest);
        Assert.Equal(1, scale.Locate(scale.Ticks[^1].Value), 9);
    }

    [Fact]
    public void FromZero_NotRoundedUp_EndsAtTheLargestValue()
    {
        ChartAxis axis = new(LinearScale.FromZero(9, ticks: 5, roundUp: false), 100, 280);

        Assert.Equal(280, axis[9]);
        Assert.Equal(["0", "2", "4", "6", "8"], axis.Scale.Ticks.Select(tick => tick.Label));
    }

    [Fact]
    public void Around_ValuesFarFromZero_DoesNotBeginThere()
    {
        LinearScale scale = Around([101, 104, 106.5]);

        Assert.Equal(101, scale.Minimum);
        Assert.Equal(107, scale.Maximum);
    }

    [Fact]
    public void Around_ValuesThatHalfTheAxisWouldHold_BeginsAtZero() => Assert.Equal(0, Around([50, 104]).Minimum);

    [Fact]
    public void Around_Bars_StandOnZero()
    {
        Assert.Equal(0, LinearScale.Around([101, 104], 8, AxisUnit.Number, withZero: true, tight: false).Minimum);
        Assert.Equal(0, LinearScale.Around([-101, -104], 8, AxisUnit.Number, withZero: true, tight: false).Maximum);
    }

    [Fact]
    public void Around_ValuesOnBothSides_HasZeroAmongTheMarks()
        => Assert.Contains(Around([-46, 90]).Ticks, tick => tick is { Value: 0, Label: "0" });

    [Theory]
    [InlineData(5)]
    [InlineData(0)]
    [InlineData(-3.5)]
    public void Around_OneValue_HasAPlaceForIt(double value)
        => Assert.InRange(Around([value]).Locate(value), 0, 1);

    [Fact]
    public void Around_CountsUpToThree_HasNoHalves()
        => Assert.Equal(["0", "1", "2", "3"], Around([1, 2, 3]).Ticks.Select(tick => tick.Label));

    [Fact]
    public void Around_Tenths_AreWrittenAsSuch()
        => Assert.Equal(["0", "0.1", "0.2", "0.3", "0.4", "0.5", "0.6", "0.7"], Around([0.05, 0.7]).Ticks.Select(tick => tick.Label));

    [Fact]
    public void Around_Bytes_HasPowersOfTwoApart()
    {
        LinearScale scale = LinearScale.Around([0, 100 << 20], 8, AxisUnit.Bytes, withZero: false, tight: false);

        Assert.Equal(["0 B", "16 MB", "32 MB", "48 MB", "64 MB", "80 MB", "96 MB", "112 MB"], scale.Ticks.Select(tick => tick.Label));
    }

    private static LinearScale Around(IReadOnlyCollection<double> values)
        => LinearScale.Around(values, 8, AxisUnit.Number, withZero: false, tight: false);
}
