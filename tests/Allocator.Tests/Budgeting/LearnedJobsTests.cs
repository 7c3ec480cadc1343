using Allocator.Budgeting;

namespace Allocator.Tests.Budgeting;

public class LearnedJobsTests
{
    private const long Unit = 64 * 1024;

    [Theory]
    [InlineData(0, 75)]
    [InlineData(1, 60)]
    [InlineData(7, 60)]
    [InlineData(8, 30)]
    [InlineData(16, 20)]
    [InlineData(63, 12)]
    [InlineData(64, 10)]
    public void ClaimOf_FewHaveEnded_IsMoreThanTheLargestOfThem(int jobs, int expected)
    {
        LearnedJob job = new("");
        for (int i = 0; i < jobs; i++)
        {
            job.End(10 * Unit, isRefused: false);
        }

        Assert.Equal(expected, job.ClaimOf(new MemoryBudget(100 * Unit)) / Unit);
        Assert.Equal(jobs == 0 ? 75 : 10, job.SizeFor(new MemoryBudget(100 * Unit)) / Unit);
    }

    [Fact]
    public void ClaimOf_OneNeededMoreThanTheFirstGuess_IsThat()
    {
        LearnedJob job = new("");
        MemoryBudget budget = new(100 * Unit);
        job.End(10 * Unit, isRefused: false);
        job.End(90 * Unit - 1, isRefused: true);
        Assert.Equal((90 * Unit, 2L, 1L), (job.ClaimOf(budget), job.Jobs, job.Failures));
    }

    [Theory]
    [InlineData(33, 33, 17)]
    [InlineData(34, 33, 18)]
    [InlineData(64, 63, 33)]
    [InlineData(100, 99, 69)]
    public void ClaimOf_ManyHaveEnded_IsThe97thPercentileOfTheLast64AndTheSizeTheirMedian(int jobs, int expected, int median)
    {
        LearnedJob job = new("");
        for (int i = 1; i <= jobs; i++)
        {
            job.End(i * Unit - 1, isRefused: false);
        }

        Assert.Equal((expected * Unit, median * Unit), (job.ClaimOf(budget: null), job.SizeFor(budget: null)));
    }

    [Fact]
    public void ClaimOf_LargeJobsLongAgo_AreForgotten()
    {
        LearnedJob job = new("");
        job.End(50 * Unit, isRefused: false);
        job.End(50 * Unit, isRefused: false);
        for (int i = 0; i < 62; i++)
        {
            job.End(1, isRefused: false);
        }

        Assert.Equal(50 * Unit, job.ClaimOf(null));
        job.End(1, isRefused: false);
        Assert.Equal(Unit, job.ClaimOf(null));
    }

    [Fact]
    public void SizeFor_JobsThatUsedNothing_TeachNothing()
    {
        LearnedJob job = new("");
        job.End(0, isRefused: false);
        Assert.Equal((0L, Unit, 75 * Unit), (job.Jobs, job.SizeFor(null), job.SizeFor(new MemoryBudget(100 * Unit))));
    }

    [Fact]
    public void SizeFor_MoreWasNeededThanThereIs_IsAllThereIs()
    {
        LearnedJob job = new("");
        job.End(long.MaxValue / 2, isRefused: true);
        MemoryBudget budget = new(100 * Unit);
        Assert.Equal((100 * Unit, 100 * Unit), (job.SizeFor(budget), job.ClaimOf(budget)));
        job.End(long.MaxValue, isRefused: true);
        Assert.Equal((100 * Unit, 100 * Unit), (job.SizeFor(budget), job.ClaimOf(budget)));
    }

    // A request is for some bytes, however little there is.
    [Fact]
    public void SizeFor_LessThanTheSmallestStepIsLeft_IsThatStep()
    {
        MemoryBudget budget = new(Unit / 2);
        LearnedJob job = new("");
        Assert.Equal((Unit, Unit), (job.SizeFor(budget), job.ClaimOf(budget)));
        job.End(Unit, isRefused: false);
        Assert.Equal((Unit, Unit), (job.SizeFor(budget), job.ClaimOf(budget)));
    }

    [Fact]
    public void Get_MoreNamesThanAreRemembered_ForgetsTheLeastRecentlyUsed()
    {
        LearnedJobs jobs = new();
        LearnedJob first = jobs.Get("first");
        LearnedJob second = jobs.Get("second");
        for (int i = 2; i < LearnedJobs.MaximumNames; i++)
        {
            jobs.Get($"{i}");
        }

        Assert.Same(first, jobs.Get("first"));
        jobs.Get("one more");
        Assert.Equal(LearnedJobs.MaximumNames, jobs.All.Length);
        Assert.Same(first, jobs.Get("first"));
        Assert.NotSame(second, jobs.Get("second"));
        Assert.Equal(256, jobs.All.Length);
    }

    [Fact]
    public void Get_NamesOfAMegabyte_AreShortenedAndToldApart()
    {
        LearnedJobs jobs = new();
        LearnedJob first = jobs.Get(new string('x', 1 << 20));
        LearnedJob second = jobs.Get(new string('x', 1 << 20) + "y");
        Assert.NotSame(first, second);
        Assert.Same(first, jobs.Get(new string('x', 1 << 20)));
        Assert.InRange(first.Name.Length, 256, 256 + 16);
    }

    [Fact]
    public void Get_OnManyThreads_MakesOneForEachName()
    {
        LearnedJobs jobs = new();
        Parallel.For(0, 10_000, i => jobs.Get($"{i % 100}").End(Unit, isRefused: false));
        Assert.Equal((100, 10_000L), (jobs.All.Length, jobs.All.Sum(static job => job.Jobs)));
        Assert.Equal(100, jobs.All.Select(static job => job.Name).Distinct().Count());
    }
}
