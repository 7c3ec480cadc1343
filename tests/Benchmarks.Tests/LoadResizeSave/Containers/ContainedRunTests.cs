namespace LoadResizeSave.Tests.Containers;

public class ContainedRunTests
{
    private const int Aborted = 128 + 6;

    [Theory]
    [InlineData(MemoryCgroup.KilledExitCode, 1, false, false, nameof(RunEnding.Killed))]
    [InlineData(MemoryCgroup.KilledExitCode, 1, false, true, nameof(RunEnding.Killed))]
    [InlineData(MemoryCgroup.KilledExitCode, 0, false, false, nameof(RunEnding.Crashed))]
    [InlineData(MemoryCgroup.KilledExitCode, 0, true, false, nameof(RunEnding.Hung))]
    [InlineData(0, 1, false, true, nameof(RunEnding.Finished))]
    [InlineData(0, 0, false, true, nameof(RunEnding.Finished))]
    [InlineData(0, 0, false, false, nameof(RunEnding.Crashed))]
    [InlineData(Aborted, 0, false, false, nameof(RunEnding.Crashed))]
    public void Judge_ExitCodeAndKills_TellAKillFromOtherEnds(int exitCode, int kills, bool hasHung, bool hasResult, string ending)
        => Assert.Equal(ending, ContainedRun.Judge(exitCode, kills, hasHung, hasResult).ToString());

    [Fact]
    public void DonePerSecond_OfARunThatWasKilled_IsNone()
    {
        Assert.Equal(1.5, ContainedRuns.Finished(JobEnd.Done, JobEnd.Done, JobEnd.Done, JobEnd.Refused).DonePerSecond);
        Assert.Null(ContainedRuns.Killed(ContainedRuns.Job(JobEnd.Done)).DonePerSecond);
    }
}
