using LoadResizeSave.Pipelines;

namespace LoadResizeSave.Tests.Pipelines;

public class PipelineReportTests
{
    private const int Jobs = 4;

    [Fact]
    public void Verdict_SomeKilled_NamesWhoIsAliveEverywhereAndWhoIsFastest()
    {
        PipelineReport report = new(
            [
                Cell("skia", 0, 2, Done(seconds: 2)), Cell("skia", 350, 4, Done(seconds: 1)),
                Cell("skia", 350, 64, ContainedRuns.Killed()),
                Cell("vips-thumbnail", 0, 2, Done(seconds: 0.5)), Cell("vips-thumbnail", 350, 4, ContainedRuns.Killed()),
                Cell("vips-thumbnail", 350, 64, Done(seconds: 1)),
                Cell("pooled", 0, 2, Done(seconds: 1)), Cell("pooled", 350, 4, Done(seconds: 1)),
                Cell("pooled", 350, 64, Done(seconds: 2)),
            ],
            []);

        Assert.Equal(
            "In a container of 350 MiB, alive with all photographs done in every run: Allocator.SkiaSharp. Fastest with 64 at once: "
                + "Allocator.SkiaSharp (2.0 a second). Without a limit the fastest that decode the whole picture: Allocator.SkiaSharp "
                + "(4.0 a second). Of those that shrink it while they decode: NetVips, Thumbnail (8.0 a second). Ways that take new "
                + "memory for each photograph pay the first write to each page, whose time the result has.",
            report.Verdict());
    }

    [Fact]
    public void Verdict_RunsOfTwoOverlap_NamesBoth()
    {
        PipelineReport report = new(
            [
                Cell("skia", 0, 2, Done(seconds: 1.0), Done(seconds: 1.2), Done(seconds: 2)),
                Cell("magick", 0, 2, Done(seconds: 1.1), Done(seconds: 1.6), Done(seconds: 1.7)),
                Cell("opencv", 0, 2, Done(seconds: 3)),
            ],
            []);

        Assert.StartsWith(
            "Without a limit the fastest that decode the whole picture: SkiaSharp (3.3 a second) and Magick.NET (2.5 a second). Ways",
            report.Verdict());
    }

    [Fact]
    public void Complete_HalfOfThePicturesFailed_CountsCpuTimeForThoseDone()
    {
        ContainedRun half = ContainedRuns.Finished(JobEnd.Done, JobEnd.Failed, JobEnd.Done, JobEnd.Failed) with
        {
            Run = Done(seconds: 1).Run,
        };

        ResultDocument document = new PipelineReport([Cell("skia", 0, 2, half)], []).Complete(
            MeasurementRun.NewDocument(PipelineReport.Program, "title", new RootCommand().Parse([])));

        Assert.Equal([1, 1, 4, 2, 2, 2, 2, 500, 100, 60], document.Tables[0].Rows[0].Values.Select(value => value!.Value));
    }

    [Fact]
    public async Task MeasureAsync_FolderThatIsNotThere_SaysSo()
    {
        MeasurementRun run = CommandLineTests.Run("--pipelines", "--input", "not-there");

        Assert.Null(await new PipelineMeasurement(JobCommand.Read(run), null, run).MeasureAsync(CancellationToken.None));
        Assert.Equal([$"There is no folder {Path.GetFullPath("not-there")}."], run.Failures);
    }

    [Fact]
    public void Verdict_OneRunOfSeveralRefusedAJob_IsNotAlive()
    {
        ContainedRun refused = ContainedRuns.Finished(JobEnd.Done, JobEnd.Done, JobEnd.Done, JobEnd.Refused);
        PipelineReport report = new(
            [Cell("pooled", 0, 2, Done(seconds: 1)), Cell("pooled", 350, 4, Done(seconds: 1), refused)], []);

        Assert.StartsWith("In a container of 350 MiB, none is alive with all photographs done in every run.", report.Verdict());
    }

    [Fact]
    public void Complete_Cells_HaveARowForEachPipelineAndAPicture()
    {
        PipelineReport report = new(
            [
                Cell("skia", 0, 2, Done(seconds: 2)), Cell("skia", 350, 1, Done(seconds: 4)), Cell("skia", 350, 2, Done(seconds: 2)),
                Cell("skia", 350, 3, Done(seconds: 1), ContainedRuns.Killed()),
                Cell("skia", 350, 64, ContainedRuns.Killed(ContainedRuns.Job(JobEnd.Done))),
                Cell("skia-job", 350, 64, Done(seconds: 1)), Cell("skia-named-job", 350, 64, Done(seconds: 4)),
                Cell("pooled", 0, 2, Done(seconds: 1)), Cell("pooled", 350, 64, Done(seconds: 2)),
            ],
            ["photographs."]);

        ResultDocument document = report.Complete(
            MeasurementRun.NewDocument(PipelineReport.Program, "title", new RootCommand().Parse([])));

        Assert.Equal(
            [PipelineReport.Title, "Beside a semaphore", "Without a limit", "In 350 MiB"],
            document.Tables.Select(table => table.Title));
        Assert.Equal(
            [
                ["SkiaSharp", "killed in every run, 1 of 4 done", "alive, all 4 done"],
                ["Allocator.SkiaSharp", "–", "alive, all 4 done"],
            ],
            document.Tables[0].Rows.Select(row => row.Labels));
        Assert.Equal([4, 2], document.Tables[0].Rows.Select(row => row.Values[0]!.Value));

        // That of 3 was killed once, that of 1 is slower.
        ResultRow beside = Assert.Single(document.Tables[1].Rows);
        Assert.StartsWith("of 2", beside.Labels[1]);
        Assert.Equal([2, 4, 2, 1, 0.5], beside.Values.Select(value => value!.Value));
        Assert.All(document.Tables, table => Assert.All(
            table.Rows,
            row => Assert.Equal((table.Labels.Count, table.Columns.Count), (row.Labels.Count, row.Values.Count))));
        Assert.Equal(PipelineReport.ChartFile, Assert.Single(document.Pictures).File);
        Assert.Contains("whole pipelines of others", report.DrawChart());
        Assert.Equal(report.Verdict(), document.Notes[^1]);
        Assert.All(document.Notes, note => Assert.EndsWith(".", note));
    }

    private static ContainedRun Done(double seconds) => ContainedRuns.Done(Jobs) with
    {
        Run = new RunMessage
        {
            Seconds = seconds,
            FinalResidentBytes = 60_000_000,
            Cost = new ProcessCounters { UserTime = TimeSpan.FromSeconds(0.9), SystemTime = TimeSpan.FromSeconds(0.1) },
            PeakResidentBytes = 100_000_000,
        },
    };

    private static SurvivalCell Cell(string pipeline, int limit, int atOnce, params ContainedRun[] runs)
    {
        SurvivalCell cell = new(Pipeline.Get(pipeline), limit, atOnce, Jobs, runs.Length);
        foreach (ContainedRun run in runs)
        {
            cell.Add(run);
        }

        return cell;
    }
}
