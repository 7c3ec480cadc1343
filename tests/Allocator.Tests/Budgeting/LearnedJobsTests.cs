using Allocator.Budgeting;

namespace Allocator.Tests.Budgeting;

public class LearnedJobsTests
{
    private const long Unit = LearnedSize.Granularity;

    [Theory]
    [InlineData(1)]
    [InlineData(63)]
    public void ClaimOf_OneJobWasLarger_IsItsNeedRoundedUp(int others)
    {
        LearnedSize learned = new LearnedJob("").Of(1);
        End(learned, 1, (50 * Unit) - 1, (20 * Unit) + 1);
        for (int i = 0; i < others; i++)
        {
            End(learned, 1, 10 * Unit, Unit);
        }

        Assert.Equal(new JobClaim(50 * Unit, 21 * Unit), learned.ClaimOf(1));
        Assert.Equal(71 * Unit, learned.ClaimOf(1).TotalBytes);
    }

    // Each of the two figures: what is used elsewhere is learned from fewer jobs.
    [Fact]
    public void ClaimOf_64SmallerJobsSince_ForgetsTheLargest()
    {
        LearnedSize learned = new LearnedJob("").Of(1);
        End(learned, 1, 50 * Unit, 20 * Unit);
        for (int i = 0; i < 64; i++)
        {
            learned.End(1, 10 * Unit, elsewhereBytes: null, isSolo: false, isRefused: false);
        }

        Assert.Equal(new JobClaim(10 * Unit, 20 * Unit), learned.ClaimOf(1));
        for (int i = 0; i < 64; i++)
        {
            End(learned, 1, 10 * Unit, 3 * Unit);
        }

        Assert.Equal(new JobClaim(10 * Unit, 3 * Unit), learned.ClaimOf(1));
    }

    // Of hundreds of answers from a cache one in eight counts.
    [Theory]
    [InlineData(504, 800)]
    [InlineData(505, 0)]
    public void ClaimOf_MostJobsNeedNearlyNothing_RemembersTheOthersForLonger(int small, long expected)
    {
        LearnedSize learned = new LearnedJob("").Of(1);
        End(learned, 1, 800 * Unit, 800 * Unit);
        for (int i = 0; i < small; i++)
        {
            End(learned, 1, 0, 0);
        }

        Assert.Equal(new JobClaim(expected * Unit, expected * Unit), learned.ClaimOf(1));
    }

    [Fact]
    public void ClaimOf_SizeLargerThanAnySeen_IsScaledUpAndNeverDown()
    {
        LearnedSize learned = new LearnedJob("").Of(1000);
        End(learned, 600, 60 * Unit, 6 * Unit);
        Assert.Equal(new JobClaim(90 * Unit, 9 * Unit), learned.ClaimOf(900));
        Assert.Equal(new JobClaim(60 * Unit, 6 * Unit), learned.ClaimOf(512));
        Assert.Equal(new JobClaim(60 * Unit, 6 * Unit), learned.ClaimOf(1));
    }

    // The smaller one needed more for each pixel.
    [Fact]
    public void ClaimOf_SeveralSizes_IsTheLargestOfAllAfterScaling()
    {
        LearnedSize learned = new LearnedJob("").Of(1000);
        End(learned, 600, 60 * Unit, 0);
        End(learned, 1000, 70 * Unit, 0);
        Assert.Equal(100 * Unit, learned.ClaimOf(1000).AllocatedBytes);
        Assert.Equal(70 * Unit, learned.ClaimOf(700).AllocatedBytes);
    }

    [Fact]
    public void ClaimByNeighbours_NothingIsKnown_IsNull()
    {
        LearnedJob job = new("");
        _ = job.Of(1);
        _ = job.Of(1000);
        Assert.Null(job.ClaimByNeighbours(100));
    }

    [Theory]
    [InlineData(16, 40)]
    [InlineData(100, 250)]
    [InlineData(2, 10)]
    [InlineData(4000, 200_000)]
    public void ClaimByNeighbours_UnseenSize_ScalesTheNextSmallerOrTakesTheNextLarger(long size, long expected)
    {
        LearnedJob job = new("");
        End(job.Of(1024), 1024, 51_200 * Unit, 0);
        End(job.Of(4), 4, 10 * Unit, 0);
        End(job.Of(8), 8, 20 * Unit, 0);
        Assert.Equal(new JobClaim(expected * Unit, 0), job.ClaimByNeighbours(size));
    }

    // At night one answer of a cache runs alone, as the second of all.
    [Fact]
    public void End_SecondThatRunsAloneAfterAThousandJobs_ForgetsNothing()
    {
        LearnedSize learned = new LearnedJob("").Of(1);
        learned.End(1, 0, 200 * Unit, isSolo: true, isRefused: false);
        for (int i = 0; i < 1000; i++)
        {
            End(learned, 1, 0, 138 * Unit);
        }

        learned.End(1, 0, 0, isSolo: true, isRefused: false);
        Assert.Equal(138 * Unit, learned.ClaimOf(1).ElsewhereBytes);
    }

    // Jobs without a size, such as uploads of an unknown format, teach nothing about jobs with one, nor the other way round.
    [Theory]
    [InlineData(1, 1000)]
    [InlineData(1000, 1)]
    public void ClaimByNeighbours_WithAndWithoutASize_IsNull(long known, long size)
    {
        LearnedJob job = new("");
        End(job.Of(known), known, 10 * Unit, 2 * Unit);
        Assert.Null(job.ClaimByNeighbours(size));
    }

    // One of which none has ended is no neighbour, however near.
    [Fact]
    public void ClaimByNeighbours_NearestSizeHasNoEndedJob_TakesTheNextNearest()
    {
        LearnedJob job = new("");
        _ = job.Of(8);
        _ = job.Of(32);
        End(job.Of(4), 4, 10 * Unit, 2 * Unit);
        Assert.Equal(new JobClaim(40 * Unit, 8 * Unit), job.ClaimByNeighbours(16));
    }

    [Fact]
    public void Of_SizesWithinAPowerOfTwo_ShareAHistory()
    {
        LearnedJob job = new("");
        LearnedSize learned = job.Of(512);
        Assert.Same(learned, job.Of(1023));
        Assert.NotSame(learned, job.Of(511));
        Assert.NotSame(learned, job.Of(1024));
        Assert.Equal((9, 0, 62), (learned.Power, job.Of(1).Power, job.Of(long.MaxValue).Power));
    }

    [Fact]
    public void Of_MorePowersOfTwoThanAreRemembered_ForgetsTheLeastRecentlyUsed()
    {
        LearnedJob job = new("");
        LearnedSize first = job.Of(1);
        LearnedSize second = job.Of(2);
        for (int power = 2; power < LearnedJob.MaximumSizes; power++)
        {
            _ = job.Of(1L << power);
        }

        Assert.Same(first, job.Of(1));
        _ = job.Of(1L << LearnedJob.MaximumSizes);
        Assert.Same(first, job.Of(1));
        Assert.NotSame(second, job.Of(2));
    }

    // An icon of 16 x 16 pixels is 2^10 bytes, a scan of 20,000 x 20,000 is 2^30.
    [Fact]
    public void Of_SizesFromAnIconToAScan_AllKeepTheirHistory()
    {
        LearnedJob job = new("");
        LearnedSize[] sizes = [.. Enumerable.Range(10, 21).Select(power => job.Of(1L << power))];
        Assert.All(sizes, size => Assert.Same(size, job.Of(1L << size.Power)));
    }

    // The first has loaded libraries, which stay: they are no need of the next.
    [Fact]
    public void End_SecondJobRanAlone_ReplacesTheUseElsewhereOfTheFirst()
    {
        LearnedSize learned = new LearnedJob("").Of(1);
        learned.End(1, 4 * Unit, 90 * Unit, isSolo: true, isRefused: false);
        learned.End(1, Unit, 70 * Unit, isSolo: false, isRefused: false);
        Assert.Equal((new JobClaim(4 * Unit, 90 * Unit), 1), (learned.ClaimOf(1), learned.SoloRuns));
        learned.End(1, Unit, 50 * Unit, isSolo: true, isRefused: false);
        Assert.Equal((new JobClaim(4 * Unit, 50 * Unit), 2), (learned.ClaimOf(1), learned.SoloRuns));
        learned.End(1, Unit, 30 * Unit, isSolo: true, isRefused: false);
        Assert.Equal((new JobClaim(4 * Unit, 50 * Unit), 3), (learned.ClaimOf(1), learned.SoloRuns));
    }

    [Fact]
    public void End_NeedAboveOrBelowTheClaim_RaisesAndNeverLowersIt()
    {
        LearnedSize learned = new LearnedJob("").Of(1);
        End(learned, 1, 8 * Unit, 8 * Unit);
        End(learned, 1, 4 * Unit, 4 * Unit);
        Assert.Equal(new JobClaim(8 * Unit, 8 * Unit), learned.ClaimOf(1));
        End(learned, 1, 12 * Unit, 16 * Unit);
        Assert.Equal(new JobClaim(12 * Unit, 16 * Unit), learned.ClaimOf(1));
    }

    [Fact]
    public void End_JobUsedNothing_IsLearned()
    {
        LearnedJob job = new("");
        End(job.Of(1), 1, 0, 0);
        Assert.Equal((1L, 0L, 0L), (job.Jobs, job.Failures, job.LearnedBytes));
        Assert.Equal(default, job.Of(1).ClaimOf(1));
    }

    [Fact]
    public void Jobs_OfSeveralSizes_AreCountedTogether()
    {
        LearnedJob job = new("");
        End(job.Of(1), 1, Unit, 7 * Unit);
        job.Of(100).End(100, 5 * Unit, elsewhereBytes: 2 * Unit, isSolo: false, isRefused: true);
        job.Of(100).End(100, 3 * Unit, elsewhereBytes: null, isSolo: false, isRefused: false);
        Assert.Equal((3L, 1L, 5 * Unit, 7 * Unit), (job.Jobs, job.Failures, job.LearnedBytes, job.ElsewhereBytes));
    }

    [Fact]
    public void ClaimOf_NeedsAndSizesNearTheLargestNumber_DoNotWrap()
    {
        LearnedJob job = new("");
        End(job.Of(2), 2, long.MaxValue, long.MaxValue);
        JobClaim scaled = job.ClaimByNeighbours(long.MaxValue)!.Value;
        JobClaim own = job.Of(2).ClaimOf(2);
        foreach (JobClaim claim in new[] { scaled, own })
        {
            // What admission adds up stays within a number.
            Assert.InRange(claim.AllocatedBytes, long.MaxValue / 32, long.MaxValue / 8);
            Assert.InRange(claim.ElsewhereBytes, long.MaxValue / 32, long.MaxValue / 8);
            Assert.Equal(claim.AllocatedBytes + claim.ElsewhereBytes, claim.TotalBytes);
        }

        LearnedSize large = job.Of(long.MaxValue);
        End(large, long.MaxValue, 3 * Unit, Unit);
        Assert.Equal(new JobClaim(3 * Unit, Unit), large.ClaimOf(long.MaxValue));
        Assert.Equal(new JobClaim(3 * Unit, Unit), large.ClaimOf(1L << 62));
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
        Assert.Equal(LearnedJobs.MaximumNames, jobs.All.Count());
        Assert.Same(first, jobs.Get("first"));
        Assert.NotSame(second, jobs.Get("second"));
        Assert.Equal(256, jobs.All.Count());
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
    public void Get_OnManyThreads_MakesOneForEachNameAndSize()
    {
        LearnedJobs jobs = new();
        Parallel.For(0, 10_000, i => End(jobs.Get($"{i % 100}").Of(1L << (i % 4)), 1L << (i % 4), Unit, Unit));
        Assert.Equal((100, 10_000L), (jobs.All.Count(), jobs.All.Sum(static job => job.Jobs)));
        Assert.Equal(100, jobs.All.Select(static job => job.Name).Distinct().Count());
    }

    // As of a job that did not run alone.
    private static void End(LearnedSize learned, long size, long allocatedBytes, long elsewhereBytes) =>
        learned.End(size, allocatedBytes, elsewhereBytes, isSolo: false, isRefused: false);
}
