namespace LoadResizeSave.Tests.Chaos;

public class ChaosScenarioTests
{
    private static readonly ChaosScenario s_scenario = new("test", "nothing", 350, 2, 3, [JobKind.Whole]);

    [Fact]
    public void All_Scenarios_HaveNamesOfTheirOwnAndKindsThatMeetEachPicture()
    {
        Assert.Equal(ChaosScenario.All.Count, ChaosScenario.All.Select(scenario => scenario.Name).Distinct().Count());
        Assert.All(ChaosScenario.All, scenario => Assert.True(scenario.Kinds.Count is 1 or 5 or 7 or 11, scenario.Name));
    }

    [Fact]
    public void FindFaults_ExpectedEnds_AreNone()
    {
        ContainedRun run = ContainedRuns.Finished(
            ContainedRuns.Job(JobEnd.Done),
            ContainedRuns.Job(JobEnd.Vanished, JobKind.Cancelled),
            ContainedRuns.Job(JobEnd.Damaged, JobKind.Truncated));

        Assert.Empty(s_scenario.FindFaults(run, mayRefuse: false));
    }

    [Theory]
    [InlineData(JobKind.Whole, JobEnd.Failed)]
    [InlineData(JobKind.Whole, JobEnd.Vanished)]
    [InlineData(JobKind.Whole, JobEnd.RefusedForGood)]
    [InlineData(JobKind.Truncated, JobEnd.Done)]
    [InlineData(JobKind.SlowUpload, JobEnd.Failed)]
    internal void FindFaults_AJobThatEndsOtherwise_IsOne(JobKind kind, JobEnd end)
    {
        ContainedRun run = ContainedRuns.Finished(
            ContainedRuns.Job(JobEnd.Done), ContainedRuns.Job(JobEnd.Done), ContainedRuns.Job(end, kind));

        Assert.Contains(end.ToString(), Assert.Single(s_scenario.FindFaults(run, mayRefuse: true)));
    }

    [Fact]
    public void FindFaults_Refusal_IsAFaultWhereNoneIsAllowed()
    {
        ContainedRun run = ContainedRuns.Finished(JobEnd.Done, JobEnd.Done, JobEnd.Refused);

        Assert.Single(s_scenario.FindFaults(run, mayRefuse: false));
        Assert.Empty(s_scenario.FindFaults(run, mayRefuse: true));
    }

    [Fact]
    public void FindFaults_KillsLossesStarvationAndLeaks_AreNamed()
    {
        ContainedRun good = ContainedRuns.Done(3);
        RunMessage isOut = good.Run! with { Statistics = new MemoryAllocatorStatistics { QuarantinedBytes = 1 } };
        JobMessage slow = ContainedRuns.Job(JobEnd.Done, seconds: 50);

        Assert.Contains("Killed", Assert.Single(Find(ContainedRuns.Killed())));
        Assert.Contains("neighbour", Assert.Single(Find(good with { Kills = 1 })));
        Assert.Contains("1 jobs were lost", Assert.Single(Find(ContainedRuns.Done(2))));
        Assert.Contains("a job took 50 s", Assert.Single(Find(good with { Jobs = [.. good.Jobs.Take(2), slow] })));
        Assert.Contains("at the end 1 bytes are quarantined", Find(good with { Run = isOut }));

        static IEnumerable<string> Find(ContainedRun run) => s_scenario.FindFaults(run, mayRefuse: false);
    }
}
