using System.CommandLine;
using System.Xml.Linq;
using LoadResizeSave.Containers;
using LoadResizeSave.Running;
using LoadResizeSave.Survival;
using LoadResizeSave.Tests.Containers;
using Measuring.Results;

namespace LoadResizeSave.Tests.Survival;

public class SurvivalReportTests
{
    private readonly SurvivalCommand _command = new();

    [Fact]
    public void Read_NoArguments_IsTheWholeMatrixWithMoreRunsForClaims()
    {
        SurvivalLoad load = Read();

        Assert.Equal(MemoryWay.All, load.Ways);
        IReadOnlyList<SurvivalCell> cells = load.CreateCells();
        Assert.Equal(4 + (3 * 4 * MemoryWay.All.Count), cells.Count);
        Assert.All(cells, cell => Assert.Equal(cell.Way.IsOfLibrary ? 20 : 3, cell.WantedRuns));
        Assert.All(cells, cell => Assert.Equal(Math.Max(24, cell.AtOnce), cell.Jobs));
        Assert.All(cells.Take(4), cell => Assert.Equal(SurvivalLoad.ReferenceMegabytes, cell.LimitMegabytes));
    }

    [Fact]
    public void Read_Quick_IsSmallWhereNothingElseWasAskedFor()
    {
        SurvivalLoad load = Read("--quick", "--at-once", "2", "4", "--ways", "reserve");

        Assert.Equal([350], load.Limits);
        Assert.Equal([2, 4], load.AtOnce);
        Assert.Equal((1, 1, 16), (load.Runs, load.ClaimRuns, load.Jobs));
        Assert.Equal(["reserve"], load.Ways.Select(way => way.Name));
    }

    [Theory]
    [InlineData("--ways", "other")]
    [InlineData("--limits", "10")]
    [InlineData("--runs", "0")]
    [InlineData("--at-once", "0")]
    public void Parse_WhatCannotBe_HasAnError(params string[] arguments)
        => Assert.NotEmpty(new RootCommand { _command.Command }.Parse(["survive", .. arguments]).Errors);

    [Fact]
    public void Complete_Cells_HaveRowsClaimsAndAPicture()
    {
        ResultDocument document = Report().Complete(CommandLine.NewDocument("title", new RootCommand().Parse([])));

        Assert.Equal("LoadResizeSave-survival", document.Program);
        Assert.Equal(
            ["What is claimed", "In 256 MiB", "In 350 MiB", "The same load in 4 GiB, this library by default"],
            document.Tables.Select(table => table.Title));
        foreach (ResultTable table in document.Tables)
        {
            (int, int) headings = (table.Labels.Count, table.Columns.Count);
            Assert.All(table.Rows, row => Assert.Equal(headings, (row.Labels.Count, row.Values.Count)));
        }

        Assert.Equal(["no", "yes"], document.Tables[0].Rows.Select(row => row.Labels[^1]));
        Assert.Equal(["killed 1 of 1", "killed 1 of 1", "all 2 survived"], document.Tables[2].Rows.Select(row => row.Labels[^1]));
        Assert.Equal("LoadResizeSave-survival.svg", Assert.Single(document.Pictures).File);
        Assert.All(document.Notes, note => Assert.EndsWith(".", note));
    }

    [Fact]
    public void DrawChart_PanelForEachWay_HasTheLimitAndACrossWhereOneWasKilled()
    {
        XElement root = XDocument.Parse(Report().DrawChart()).Root!;
        XNamespace svg = root.Name.Namespace;

        Assert.Equal(
            (2, 0, 1),
            (CountKilled("GC arrays") + CountKilled("by default"), CountKilled("a reservation a job"), CountKilled("GC arrays")));
        (double width, double height) = ((double)root.Attribute("width")!, (double)root.Attribute("height")!);
        Assert.All(
            root.Elements(svg + "text"),
            text => Assert.True((double)text.Attribute("x")! <= width && (double)text.Attribute("y")! <= height, text.Value));

        // In the legend, and at the end of each of the two that were killed.
        Assert.Equal(
            3, root.Elements(svg + "path").Count(path => ((string)path.Attribute("d")!).Contains("l10 10", StringComparison.Ordinal)));

        int CountKilled(string way)
        {
            List<string> texts = [.. root.Elements(svg + "text").Select(text => text.Value)];
            return texts[texts.IndexOf(way) + 1].StartsWith("dies 1 of 1,", StringComparison.Ordinal) ? 1 : 0;
        }
    }

    private static SurvivalReport Report()
    {
        List<SurvivalCell> cells =
        [
            Cells.Create("default", SurvivalLoad.ReferenceMegabytes, 64, ContainedRuns.Done(4)),
            Cells.Create("gc", 256, 64, ContainedRuns.Killed()),
            Cells.Create("gc", 350, 64, ContainedRuns.Killed()),
            Cells.Create("default", 350, 64, ContainedRuns.Killed(ContainedRuns.Job(JobEnd.Done))),
            Cells.Create("reserve", 350, 64, ContainedRuns.Done(4), ContainedRuns.Done(4)),
            Cells.Create("budget", 350, 64),
        ];
        SurvivalLoad load = new()
        {
            Ways = MemoryWay.All,
            Limits = [256, 350],
            AtOnce = [64],
            Runs = 1,
            ClaimRuns = 1,
            Time = TimeSpan.FromMinutes(1),
        };
        return new SurvivalReport(load, cells, "photographs");
    }

    private SurvivalLoad Read(params string[] arguments)
    {
        ParseResult parsed = new RootCommand { _command.Command }.Parse(["survive", .. arguments]);
        Assert.Empty(parsed.Errors);
        return _command.Read(parsed);
    }
}
