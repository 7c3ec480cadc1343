using System;
using System.Collections.Generic;
using System.Linq;
using Allocator.Trimming;
using Xunit;

namespace Allocator.Tests.Trimming;

public class TrimJitterTests
{
    [Fact]
    public void Stretch_ManyPeriods_IsFromNothingToAFifth()
    {
        TrimJitter jitter = new(new Random(1));
        List<long> periods = [.. Enumerable.Range(0, 10_000).Select(_ => jitter.Stretch(60_000))];

        Assert.InRange(periods.Min(), 60_000, 60_100);
        Assert.InRange(periods.Max(), 71_900, 72_000);
        Assert.InRange(periods.Average(), 65_700, 66_300);
    }

    [Theory]
    [InlineData(1)]
    [InlineData(int.MaxValue)]
    public void Stretch_ExtremePeriods_StaysWithinItsBounds(long period)
    {
        TrimJitter jitter = new(new Random(1));
        Assert.All(Enumerable.Range(0, 100), _ => Assert.InRange(jitter.Stretch(period), period, period + (period / 5)));
    }

    [Fact]
    public void Create_TwoProcessesOrSchedulers_DrawDifferentNumbers()
    {
        TrimJitter first = TrimJitter.Create();
        TrimJitter second = TrimJitter.Create();
        Assert.NotEqual(Periods(first), Periods(second));

        static List<long> Periods(TrimJitter jitter) => [.. Enumerable.Range(0, 10).Select(_ => jitter.Stretch(1_000_000))];
    }

    [Fact]
    public void None_AnyPeriod_IsLeftAsItIs() => Assert.Equal(60_000, TrimJitter.None.Stretch(60_000));
}
