namespace LoadResizeSave.Tests.Survival;

public class SurvivalCellTests
{
    private const int Jobs = 4;

    [Fact]
    public void Outcome_OfSeveralEnds_SaysHowOftenEach()
    {
        SurvivalCell cell = Cells.Create(
            "gc", ContainedRuns.Done(Jobs), ContainedRuns.Killed(), ContainedRuns.Killed(),
            ContainedRuns.Killed() with { Ending = RunEnding.Crashed });

        Assert.Equal("killed 2 of 4, crashed 1 of 4", cell.Outcome);
        Assert.Equal("all 1 survived", Cells.Create("gc", ContainedRuns.Done(Jobs)).Outcome);
        Assert.Null(cell.KeepsClaim);
    }

    [Theory]
    [InlineData("reserve", 20, 0, true)]
    [InlineData("reserve", 19, 1, false)]
    [InlineData("budget", 20, 0, true)]
    [InlineData("budget", 19, 1, false)]
    [InlineData("default", 18, 2, true)]
    [InlineData("default", 17, 3, false)]
    public void KeepsClaim_NumberKilled_DependsOnTheStrategy(string way, int finished, int killed, bool keeps)
    {
        ContainedRun[] runs = [
            .. Enumerable.Repeat(ContainedRuns.Done(Jobs), finished), .. Enumerable.Repeat(ContainedRuns.Killed(), killed)];

        Assert.Equal(keeps, Cells.Create(way, runs).KeepsClaim);
    }

    [Theory]
    [InlineData("reserve", false)]
    [InlineData("budget", true)]
    public void KeepsClaim_OneJobRefused_IsBrokenWhereNoneMayFail(string way, bool keeps)
    {
        ContainedRun run = ContainedRuns.Finished(
            [.. Enumerable.Repeat(ContainedRuns.Job(JobEnd.Done), Jobs - 1), ContainedRuns.Job(JobEnd.Refused)]);

        Assert.Equal(keeps, Cells.Create(way, run).KeepsClaim);
    }

    [Fact]
    public void Figures_OfSeveralRuns_AreMedianAverageAndMost()
    {
        ContainedRun slow = ContainedRuns.Finished(
            ContainedRuns.Job(JobEnd.Done, seconds: 9), ContainedRuns.Job(JobEnd.RefusedForGood), ContainedRuns.Job(JobEnd.Refused),
            ContainedRuns.Job(JobEnd.Failed));
        SurvivalCell cell = Cells.Create("default", ContainedRuns.Done(Jobs), slow, ContainedRuns.Done(Jobs), ContainedRuns.Killed());

        Assert.Equal((2.25, 0.5, 0.25), (cell.DonePerRun, cell.RefusedPerRun, cell.FailedPerRun));
        Assert.Equal((2, 9, 350 * ContainedRuns.Mebibyte), (cell.DonePerSecond, cell.SlowestJob, cell.PeakBytes));
    }

    [Fact]
    public void Figures_WithoutRuns_AreNone()
    {
        SurvivalCell cell = Cells.Create("reserve");

        Assert.Equal((null, null, null, null), (cell.DonePerRun, cell.DonePerSecond, cell.PeakBytes, cell.KeepsClaim));
    }
}

/// <summary>Cells with runs.</summary>
internal static class Cells
{
    public static SurvivalCell Create(string way, params ContainedRun[] runs) => Create(way, 350, 64, runs);

    public static SurvivalCell Create(string way, int limit, int atOnce, params ContainedRun[] runs)
    {
        SurvivalCell cell = new(MemoryWay.Get(way), limit, atOnce, jobs: 4, wantedRuns: Math.Max(1, runs.Length));
        foreach (ContainedRun run in runs)
        {
            cell.Add(run);
        }

        return cell;
    }
}
