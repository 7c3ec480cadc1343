using System.CommandLine;
using Allocator;
using LoadResizeSave.Containers;
using LoadResizeSave.Mixed;
using LoadResizeSave.Running;
using LoadResizeSave.Tests.Containers;
using Measuring.Results;

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

    [Fact]
    public void Complete_Results_HaveARowEach()
    {
        MixedResult good = new(MemoryWay.Get("reserve"), Jobs);
        good.Add(ContainedRuns.Done(Jobs));
        MixedResult bad = new(MemoryWay.Get("default"), Jobs);
        bad.Add(ContainedRuns.Done(Jobs));
        bad.Add(ContainedRuns.Killed());

        ResultDocument empty = CommandLine.NewDocument("title", new RootCommand().Parse([]));
        ResultDocument document = MixedMeasurement.Complete(empty, [good, bad, new(MemoryWay.Get("gc"), Jobs)], Read());

        ResultTable table = Assert.Single(document.Tables);
        Assert.Equal(["all 1 good", "1 of 2 good"], table.Rows.Select(row => row.Labels[^1]));
        Assert.All(table.Rows, row => Assert.Equal(table.Columns.Count, row.Values.Count));
        Assert.Equal(1, table.Rows[1].Values[1]);
        Assert.Equal(10, table.Rows[0].Values[9]);
    }

    [Fact]
    public void Read_NoArguments_IsTheLoadThatTheLibraryMustStand()
    {
        MixedLoad load = Read();

        Assert.Equal((400, 16, 160, 20), (load.LimitMegabytes, load.Workers, load.Jobs, load.Runs));
        Assert.Equal(MixedLoad.UsualWays, load.Ways.Select(way => way.Name));
        Assert.Equal((32, 1), (Read("--quick").Jobs, Read("--quick").Runs));
    }

    private static MixedLoad Read(params string[] arguments)
    {
        MixedCommand command = new();
        return command.Read(new RootCommand { command.Command }.Parse(["mixed", .. arguments]));
    }
}
