using System.Linq;
using Allocator.Benchmarks.Reporting;
using Measuring.Results;
using Xunit;

namespace Allocator.Benchmarks.Tests.Reporting;

public class CaseTableTests
{
    [Fact]
    public void Create_TwoSetsOfParameters_ComparesWithinEach()
    {
        ResultTable table = CaseTable.Create(
            "title",
            [
                Cases.Create("Classic", "1", 100, isBaseline: true),
                Cases.Create("Pool", "1", 20),
                Cases.Create("Classic", "8", 800, isBaseline: true),
                Cases.Create("Pool", "8", 40),
            ],
            []);

        Assert.Equal([1, 0.2, 1, 0.05], Column(table, "ratio to classic"));
    }

    [Fact]
    public void Create_AnotherReference_GetsAColumnOfItsOwn()
    {
        ResultTable table = CaseTable.Create(
            "title",
            [Cases.Create("Classic", "1", 100, isBaseline: true), Cases.Create("Pool", "1", 20), Cases.Create("Shared", "1", 10)],
            ["Shared"]);

        Assert.Equal([10, 2, 1], Column(table, "ratio to shared"));
    }

    [Fact]
    public void Create_ReferenceLeftOutByAFilter_LeavesItsRatiosEmpty()
    {
        ResultTable table = CaseTable.Create("title", [Cases.Create("Pool", "1", 20)], ["Shared"]);

        Assert.Equal([null], Column(table, "ratio to Shared"));
        Assert.DoesNotContain(table.Columns, column => column.Name == "ratio to classic");
    }

    [Fact]
    public void Create_FailedBaseline_LeavesFiguresAndRatiosEmpty()
    {
        ResultTable table = CaseTable.Create("title", [Cases.Create("Classic", "1", null, isBaseline: true), Cases.Create("Pool", "1", 20)], []);

        Assert.All(table.Rows[0].Values, value => Assert.Null(value));
        Assert.Equal([null, 20], Column(table, "mean"));
        Assert.Equal([null, null], Column(table, "ratio to classic"));
    }

    [Fact]
    public void Create_Times_AreInTheUnitOfTheHeading()
    {
        ResultTable table = CaseTable.Create("title", [Cases.Create("Pool", "1", 2_500_000)], []);

        Assert.All(new[] { "mean", "error", "stddev" }, name => Assert.Equal("ms", table.Columns.Single(column => column.Name == name).Unit));
        Assert.Equal([2.5], Column(table, "mean"));
        Assert.Equal([0.25], Column(table, "error"));
        Assert.Equal([0.125], Column(table, "stddev"));
    }

    [Fact]
    public void Create_Case_ShowsParametersCollectionsAndBytes()
    {
        ResultTable table = CaseTable.Create("title", [Cases.Create("Pool", "8", 20)], []);

        Assert.Equal(["threads", "blocks held", "method"], table.Labels);
        Assert.Equal(["8", "4", "pool"], table.Rows[0].Labels);
        Assert.Equal([0.5], Column(table, "gen0"));
        Assert.Equal([null], Column(table, "gen1"));
        Assert.Equal([40], Column(table, "allocated"));
    }

    private static double?[] Column(ResultTable table, string name)
    {
        int index = table.Columns.Select(column => column.Name).ToList().IndexOf(name);
        Assert.True(index >= 0, $"There is no column {name}.");
        return [.. table.Rows.Select(row => row.Values[index])];
    }
}
