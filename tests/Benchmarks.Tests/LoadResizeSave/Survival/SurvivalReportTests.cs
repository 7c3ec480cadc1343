namespace LoadResizeSave.Tests.Survival;

public class SurvivalReportTests
{
    [Fact]
    public void Complete_Cells_HaveRowsClaimsAndAPicture()
    {
        ResultDocument document = Report().Complete(
            MeasurementRun.NewDocument(SurvivalReport.Program, "title", new RootCommand().Parse([])));

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

    private static SurvivalReport Report()
    {
        List<SurvivalCell> cells =
        [
            Cells.Create("default", SurvivalReport.ReferenceMegabytes, 64, ContainedRuns.Done(4)),
            Cells.Create("gc", 256, 64, ContainedRuns.Killed()),
            Cells.Create("gc", 350, 64, ContainedRuns.Killed()),
            Cells.Create("default", 350, 64, ContainedRuns.Killed(ContainedRuns.Job(JobEnd.Done))),
            Cells.Create("reserve", 350, 64, ContainedRuns.Done(4), ContainedRuns.Done(4)),
            Cells.Create("budget", 350, 64),
        ];
        return new SurvivalReport([256, 350], [64], cells, "photographs");
    }
}
