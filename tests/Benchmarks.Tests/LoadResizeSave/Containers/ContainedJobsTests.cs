namespace LoadResizeSave.Tests.Containers;

public sealed class ContainedJobsTests : IDisposable
{
    private readonly PictureFiles _files = new();

    public void Dispose() => _files.Dispose();

    [Fact]
    public void Run_SomeJobs_WritesEachAsItEndsAndTheResultAtTheEnd()
    {
        List<ContainerMessage> messages = [];
        Lock sending = new();

        new ContainedJobs(Options() with { Kinds = [JobKind.Whole, JobKind.Truncated, JobKind.Whole] }, Send).Run();

        Assert.True(messages[0].Begins);
        Assert.Equal(8, messages.Count(message => message.Job?.End == JobEnd.Done));
        Assert.Equal(4, messages.Count(message => message.Job?.End == JobEnd.Damaged));
        Assert.False(ContainedJobs.HasMemoryOut(messages[^1].Run!.Statistics!.Value));

        void Send(ContainerMessage message)
        {
            lock (sending)
            {
                messages.Add(message);
            }
        }
    }

    [Fact]
    public void Run_TwoBursts_BeginsTheSecondWhenTheFirstHasEnded()
    {
        List<int> bursts = [];
        new ContainedJobs(Options() with { Bursts = 2, Workers = 5 }, message =>
        {
            lock (bursts)
            {
                if (message.Job is { } job)
                {
                    bursts.Add(job.Burst);
                }
            }
        }).Run();

        Assert.Equal(Enumerable.Repeat(0, 6).Concat(Enumerable.Repeat(1, 6)), bursts);
    }

    [SkippableFact]
    public async Task RunAsync_InAContainerWithRoom_DoesAllJobsAndIsCharged()
    {
        SkipWithoutCgroups();

        ContainedOptions options = Options() with { Explains = true };
        ContainedRun run = await ContainedProcess.RunAsync(ContainedJobs.Task.Describe(options), limitMegabytes: 350);

        Assert.True(run.Ending == RunEnding.Finished, run.Errors);
        Assert.Equal(12, run.Count(JobEnd.Done));
        Assert.NotEmpty(run.Samples);
        Assert.InRange(run.PeakBytes ?? 1, 1, 350L << 20);
        Assert.False(ContainedJobs.HasMemoryOut(run.Run!.Statistics!.Value));
        Assert.True(run.Most is { Charged: > 0, ManagedHeap: > 0 }, $"{run.Most}");
    }

    [SkippableFact]
    public async Task RunAsync_InAContainerWithoutRoom_IsKilledAndSaysWhatItHadDone()
    {
        SkipWithoutCgroups();

        // As much as the runtime alone takes, and no more.
        ContainedRun run = await ContainedProcess.RunAsync(
            ContainedJobs.Task.Describe(Options() with { Way = "aligned", Jobs = 2000 }), limitMegabytes: 12);

        Assert.Equal((RunEnding.Killed, MemoryCgroup.KilledExitCode, 1), (run.Ending, run.ExitCode, run.Kills));
        Assert.Null(run.Run);
    }

    private static void SkipWithoutCgroups() => Skip.If(MemoryCgroup.WhyUnavailable() is not null, MemoryCgroup.WhyUnavailable());

    private ContainedOptions Options() => new() { Way = "reserve", LimitMegabytes = 350, Workers = 3, Jobs = 12, Pictures = _files.Paths };
}
