namespace LoadResizeSave.Tests.Mixed;

public class MixedResultTests
{
    private const int Jobs = 3;

    [Fact]
    public void FindFault_DoneOrRefused_IsNone()
        => Assert.Null(MixedResult.FindFault(ContainedRuns.Finished(JobEnd.Done, JobEnd.Refused, JobEnd.RefusedForGood), Jobs));

    [Fact]
    public void FindFault_WhatMustNotBe_IsNamed()
    {
        ContainedRun good = ContainedRuns.Done(Jobs);
        ContainedRun failed = ContainedRuns.Finished(JobEnd.Done, JobEnd.Done, JobEnd.Failed);
        RunMessage end = good.Run!;
        RunMessage isOut = end with { Statistics = new MemoryAllocatorStatistics { OutstandingAllocations = 1 } };
        RunMessage stayed = end with { Collected = end.Before with { Charged = end.Before.Charged + MixedResult.MostLeftBytes + 1 } };

        Assert.Equal("Killed", MixedResult.FindFault(ContainedRuns.Killed(), Jobs));
        Assert.Equal("jobs failed or were lost", MixedResult.FindFault(ContainedRuns.Done(Jobs - 1), Jobs));
        Assert.Equal("jobs failed or were lost", MixedResult.FindFault(failed, Jobs));
        Assert.Equal("memory is out", MixedResult.FindFault(good with { Run = isOut }, Jobs));
        Assert.Equal("memory stayed", MixedResult.FindFault(good with { Run = stayed }, Jobs));
    }
}
