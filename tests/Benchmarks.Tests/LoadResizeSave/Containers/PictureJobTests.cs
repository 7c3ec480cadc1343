namespace LoadResizeSave.Tests.Containers;

public sealed class PictureJobTests : IDisposable
{
    private const int Limit = 350;

    private readonly PictureFiles _files = new();

    public void Dispose() => _files.Dispose();

    [Fact]
    public void Run_EachWay_GivesTheSameFileAndHoldsNothing()
    {
        foreach (string path in _files.Paths)
        {
            string?[] hashes = [.. MemoryWay.All.Select(way =>
            {
                using PixelStore store = Create(way.Name);
                JobMessage message = new PictureJob(store).Run(path, JobKind.Whole);
                Assert.Equal((JobEnd.Done, null), (message.End, message.Reason));
                Pictures.AssertNothingIsOut(store);
                return message.Sha256;
            })];

            Assert.Single(hashes.Distinct());
            Assert.NotNull(hashes[0]);
        }
    }

    [Theory]
    [InlineData("default")]
    [InlineData("reserve")]
    public void Run_Truncated_FailsInTheCodecAndHoldsNothing(string way)
    {
        foreach (string path in _files.Paths)
        {
            using PixelStore store = Create(way);

            JobMessage message = new PictureJob(store).Run(path, JobKind.Truncated);

            Assert.Equal(JobEnd.Damaged, message.End);
            Assert.Equal((0, 0), (store.Statistics!.Value.OutstandingAllocations, store.Statistics!.Value.BudgetUsedBytes));
        }
    }

    [Fact]
    public void Run_Abandoned_LeavesMemoryOutstanding()
    {
        using PixelStore store = Create("reserve");

        JobMessage message = new PictureJob(store).Run(_files.Paths[0], JobKind.Abandoned);

        Assert.Equal(JobEnd.Vanished, message.End);

        // A collection that another test brought about may have returned it before this one looks.
        MemoryAllocatorStatistics statistics = store.Statistics!.Value;
        Assert.True(ContainedJobs.HasMemoryOut(statistics) || statistics.Abandoned > 0);
    }

    [Fact]
    public void Run_NoFile_Fails()
    {
        using PixelStore store = Create("gc");

        JobMessage message = new PictureJob(store).Run(
            Path.Combine(Path.GetDirectoryName(_files.Paths[0])!, "none.png"), JobKind.Whole);

        Assert.Equal(JobEnd.Failed, message.End);
        Assert.NotNull(message.Reason);
    }

    [Fact]
    public void Judge_UnexpectedException_IsNoEnd()
    {
        Assert.Null(PictureJob.Judge(new InvalidOperationException(), JobKind.Whole));
        Assert.Null(PictureJob.Judge(new ObjectDisposedException("x"), JobKind.Abandoned));
        Assert.Equal(JobEnd.Failed, PictureJob.Judge(new OutOfMemoryException(), JobKind.Whole));
        Assert.Equal(JobEnd.Failed, PictureJob.Judge(new UnreadablePictureException("damaged"), JobKind.Whole));
        Assert.Equal(JobEnd.Vanished, PictureJob.Judge(new OperationCanceledException(), JobKind.Cancelled));
    }

    [Fact]
    public void Judge_NeverFits_IsRefusedPermanently()
    {
        using PixelStore store = Create("budget");

        MemoryLimitExceededException refusal = Assert.Throws<MemoryLimitExceededException>(() => store.Allocate(int.MaxValue - 100));

        Assert.Equal(JobEnd.RefusedForGood, PictureJob.Judge(refusal, JobKind.Whole));
    }

    private static PixelStore Create(string way) => MemoryWay.Get(way).CreateStore(Limit, TimeSpan.FromMinutes(1));
}
