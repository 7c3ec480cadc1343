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

    [Fact]
    public void Complete_SeveralBursts_ComparesEachWithReservations()
    {
        SurvivalReport report = new(
            [350], [64], [Cell("reserve@170", 2), Cell("learned@170", 3), Cell("learned", 3), Cell("budget", 9)], "photographs");
        ResultDocument document = report.Complete(
            MeasurementRun.NewDocument(SurvivalReport.Program, "title", new RootCommand().Parse([])));

        Assert.Equal("LoadResizeSave-bursts", document.Program);
        ResultTable bursts = Assert.Single(document.Tables, table => table.Title.StartsWith("First", StringComparison.Ordinal));
        Assert.Equal(
            ["a reservation a job, budget 170", "learned, budget 170", "learned, no number"], bursts.Rows.Select(row => row.Labels[2]));
        Assert.Equal([2, 50, 100, 2, 1], bursts.Rows[0].Values);
        Assert.Equal([2, 50, 100, 3, 1.5], bursts.Rows[1].Values);
        Assert.Null(bursts.Rows[2].Values[^1]);

        // Two bursts of two jobs: in one run one of the first is refused.
        static SurvivalCell Cell(string way, double seconds)
        {
            SurvivalCell cell = new(MemoryWay.Get(way), 350, 64, jobs: 4, wantedRuns: 2, bursts: 2);
            cell.Add(Run(JobEnd.Done));
            cell.Add(Run(JobEnd.Refused));
            return cell;

            ContainedRun Run(JobEnd second)
            {
                ContainedRun run = ContainedRuns.Finished(
                    ContainedRuns.Job(JobEnd.Done), ContainedRuns.Job(second),
                    ContainedRuns.Job(JobEnd.Done) with { Burst = 1 }, ContainedRuns.Job(JobEnd.Done) with { Burst = 1 });
                return run with { Run = run.Run! with { Seconds = seconds } };
            }
        }
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
