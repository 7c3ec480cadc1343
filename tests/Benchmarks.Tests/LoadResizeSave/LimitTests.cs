namespace LoadResizeSave.Tests;

public class LimitTests
{
    private const int Pictures = 24;
    private const int Limit = 350;

    [Fact]
    public void Budget_OfALimit_LeavesRoomForProcessHeapAndCalm()
    {
        ProcessBase processBase = new(60 << 20);

        Assert.Equal(315 - 60 - 64, processBase.Budget(Limit));
        Assert.Throws<InvalidOperationException>(() => processBase.Budget(100));
    }

    [Fact]
    public void Outcome_SaysWhatBecameOfThePictures()
    {
        TrialResult finished = Result(Limit, AllocatorKind.Budget, pictures: Pictures);

        Assert.Equal("finished", finished.Outcome(Pictures));
        Assert.Equal("4 of 28 refused", finished.Outcome(Pictures + 4));
        Assert.Equal("killed", (finished with { Run = null, WasKilled = true }).Outcome(Pictures));
        Assert.Equal("failed", (finished with { Run = null }).Outcome(Pictures));
    }

    [Fact]
    public void FiguresOfAPass_LeaveTheFirstOut()
    {
        TrialResult result = Result(Limit, AllocatorKind.Budget, Pictures);

        Assert.Equal((2, 400, 6), (result.CpuSecondsOfPass, result.PageFaultsOfPass, result.PicturesPerSecond));
        Assert.Null((result with { Run = null }).PageFaultsOfPass);
    }

    [Fact]
    public void Complete_KilledTrial_HasARowAndNoBar()
    {
        ResultDocument document = Report();

        ResultTable limited = Assert.Single(document.Tables, table => table.Title.Contains("350", StringComparison.Ordinal));
        Assert.Equal(["killed", "finished"], limited.Rows.Select(row => row.Labels[^1]));
        Assert.All(document.Charts, chart => Assert.Equal(
            [("pool, no limit", 1), ("pool", 0), ("pool with budget", 1)],
            chart.Series.Select(series => (series.Name, series.Points.Count))));
        Assert.Equal("LoadResizeSave-memory-limit", document.Program);
    }

    private static ResultDocument Report()
    {
        List<TrialResult> results =
        [
            Result(null, AllocatorKind.Pool, Pictures),
            Result(Limit, AllocatorKind.Pool, 0) with { Run = null, WasKilled = true },
            Result(Limit, AllocatorKind.Budget, Pictures),
        ];
        JobOptions options = JobCommand.Read(JobCommand.Create().Parse(
            ["--memory-limit", "350", "--parallelism", "2", "--allocator", "pool", "--repeat", "2"]));
        ResultDocument empty = MeasurementRun.NewDocument("LoadResizeSave", "title", JobCommand.Create().Parse([]));
        return new LimitReport(results, options, new ProcessBase(60 << 20), Pictures).Complete(empty);
    }

    private static TrialResult Result(int? limit, AllocatorKind kind, int pictures)
    {
        MeasuredPass first =
            new(10, pictures / 2, new ProcessCounters { UserTime = TimeSpan.FromSeconds(9), MinorFaults = 5000, MajorFaults = 7 });
        MeasuredPass second =
            new(2, pictures / 2, new ProcessCounters { UserTime = TimeSpan.FromSeconds(2), MinorFaults = 400, MajorFaults = 0 });
        return new TrialResult(
            new JobTrial(limit, 2, kind, kind == AllocatorKind.Budget ? 191 : null),
            Runs.Create(kind) with { Pictures = pictures, Passes = [first, second] },
            Failure: null,
            WasKilled: false,
            PeakBytes: 300_000_000);
    }
}
