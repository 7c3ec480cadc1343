using System.Collections.Generic;
using System.Linq;
using Allocator.Benchmarks.Reporting;
using Measuring.Results;
using Xunit;

namespace Allocator.Benchmarks.Tests.Reporting;

public class CaseChartsTests
{
    [Fact]
    public void Create_SeveralMethods_DrawsALineOfEachFromLeftToRight()
    {
        ResultChart chart = Assert.Single(Create([
            Cases.Create("Pool", "32", 3_000), Cases.Create("Pool", "4", 2_000), Cases.Create("Classic", "4", 9_000),
        ]));

        Assert.Equal(["pool", "classic"], chart.Series.Select(series => series.Name));
        Assert.Equal([new ResultPoint(4, 2), new ResultPoint(32, 3)], chart.Series[0].Points);
        Assert.EndsWith("µs", chart.Y);
    }

    [Fact]
    public void Create_AnotherParameter_GetsAChartForEachValue()
    {
        MeasuredCase one = Cases.Create("Pool", "1", 10) with { Parameters = [new(Cases.Threads, "1"), new("BlocksHeld", "1")] };

        IReadOnlyList<ResultChart> charts = Create([one, Cases.Create("Pool", "1", 20)]);

        Assert.Equal(["title, blocks held: 1", "title, blocks held: 4"], charts.Select(chart => chart.Title));
    }

    [Fact]
    public void Create_FailedCase_IsLeftOut()
    {
        ResultChart chart = Assert.Single(Create([Cases.Create("Pool", "1", null), Cases.Create("Pool", "2", 20)]));

        Assert.Equal([new ResultPoint(2, 20)], Assert.Single(chart.Series).Points);
    }

    private static IReadOnlyList<ResultChart> Create(IReadOnlyList<MeasuredCase> cases)
        => CaseCharts.Create("title", cases, new ChartOverAttribute(Cases.Threads, "threads"));
}
