using Allocator.Budgeting;

namespace Allocator.Tests.Budgeting;

/// <summary>How much of a budget stays free beside learned reservations, so that one of them can get to its end.</summary>
public class LearnedClaimsTests
{
    private const long Unit = 64 * 1024;

    // It has 8 of the 12 that it may need. The next begins with 4, if the 4 are left that end the first.
    [Theory]
    [InlineData(16, true)]
    [InlineData(15, false)]
    public void TryBegin_BesideOneThatGrew_LeavesWhatThatMayNeed(long limit, bool expected)
    {
        LearnedJob job = Learn(4, 12);
        MemoryBudget budget = new(limit * Unit);
        ReservationAccount first = Begin(budget, job);
        Assert.True(first.AsGrowth().TryTake(4 * Unit, overtakes: false));
        Assert.Equal(expected, budget.TryBegin(job, 4 * Unit, overtakes: false));
    }

    // The one that is nearest to its end counts, whichever grew first.
    [Theory]
    [InlineData(22, true, true)]
    [InlineData(22, false, true)]
    [InlineData(21, true, false)]
    [InlineData(21, false, false)]
    public void TryBegin_BesideSeveralThatGrew_LeavesWhatTheFurthestMayNeed(long limit, bool furthestIsLast, bool expected)
    {
        LearnedJob job = Learn(4, 12);
        MemoryBudget budget = new(limit * Unit);
        ReservationAccount one = Begin(budget, job);
        ReservationAccount other = Begin(budget, job);
        foreach ((ReservationAccount account, int units) in furthestIsLast ? [(one, 2), (other, 4)] : new[] { (other, 4), (one, 2) })
        {
            Assert.True(account.AsGrowth().TryTake(units * Unit, overtakes: false));
        }

        Assert.Equal(expected, budget.TryBegin(job, 4 * Unit, overtakes: false));
    }

    // What ends the larger one ends the smaller one too; a larger one needs the difference itself.
    [Theory]
    [InlineData(true, 14, true)]
    [InlineData(true, 15, false)]
    [InlineData(false, 13, true)]
    [InlineData(false, 14, false)]
    public void TryBegin_BesideOneOfAnotherSizeThatGrew_LeavesWhatTheLargerMayNeed(bool largeGrew, long others, bool expected)
    {
        LearnedJob large = Learn(4, 16);
        LearnedJob small = Learn(2, 4);
        MemoryBudget budget = new(32 * Unit);
        ReservationAccount first = Begin(budget, largeGrew ? large : small);
        Assert.True(first.AsGrowth().TryTake((largeGrew ? 4 : 1) * Unit, overtakes: false));
        Assert.True(budget.TryTake(others * Unit, overtakes: false));
        Assert.Equal(expected, budget.TryBegin(largeGrew ? small : large, (largeGrew ? 2 : 4) * Unit, overtakes: false));
    }

    [Fact]
    public void TryBegin_TheOneThatGrewHasEnded_LeavesNothingForIt()
    {
        LearnedJob large = Learn(4, 16);
        LearnedJob small = Learn(2, 4);
        MemoryBudget budget = new(32 * Unit);
        ReservationAccount first = Begin(budget, large);
        Assert.True(first.AsGrowth().TryTake(4 * Unit, overtakes: false));
        first.Close();
        Assert.True(budget.TryTake(20 * Unit, overtakes: false));
        Assert.True(budget.TryBegin(small, 2 * Unit, overtakes: false));
    }

    // More than jobs are known to need: what it has beyond that is no room for others.
    [Fact]
    public void Grow_BeyondWhatJobsNeeded_NeverExceedsTheBudget()
    {
        LearnedJob job = Learn(4, 12);
        MemoryBudget budget = new(32 * Unit);
        ReservationAccount first = Begin(budget, job);
        Assert.False(first.AsGrowth().TryTake(29 * Unit, overtakes: false));
        Assert.True(first.AsGrowth().TryTake(28 * Unit, overtakes: false));
        Assert.False(budget.TryBegin(job, Unit, overtakes: false));
        Assert.Equal(32 * Unit, budget.AdmittedBytes);
    }

    [Fact]
    public void TryBegin_WhileAnotherWaits_IsRefused()
    {
        LearnedJob job = Learn(4, 4);
        MemoryBudget budget = new(32 * Unit);
        Assert.True(budget.TryTake(16 * Unit, overtakes: false));
        BudgetRequest waiting = new(budget, 20 * Unit);
        budget.Post(waiting);
        Assert.False(budget.TryBegin(job, 4 * Unit, overtakes: false));
        Assert.True(budget.TryCancel(waiting));
        Assert.True(budget.TryBegin(job, 4 * Unit, overtakes: false));
    }

    [Theory]
    [InlineData(16, true)]
    [InlineData(15, false)]
    public void TryBegin_OnlyAMinimumMustStayFree_LeavesAsMuch(long free, bool expected)
    {
        Headroom left = new((200 + free) * Unit, (200 + free) * Unit, (200 + free) * Unit);
        ProcessHeadroom headroom = new(new FakeHeadroom { Now = left }, new FakeClock());
        MemoryBudget budget = new() { Headroom = headroom, MinimumFreeBytes = 200 * Unit };
        headroom.Register(budget);
        LearnedJob job = Learn(4, 12);
        ReservationAccount first = Begin(budget, job);
        Assert.True(first.AsGrowth().TryTake(4 * Unit, overtakes: false));
        Assert.Equal(expected, budget.TryBegin(job, 4 * Unit, overtakes: false));
    }

    // The figures of the container are some milliseconds old: they show what a codec has freed since. No job may fail for that.
    [Fact]
    public void Close_CodecFreedItsMemorySinceTheLastReading_FailsNoGrowth()
    {
        FakeHeadroom left = new() { Now = Left(216) };
        FakeClock clock = new();
        MemoryBudget budget = new(clock: clock) { Headroom = new ProcessHeadroom(left, clock), MinimumFreeBytes = 200 * Unit };
        budget.Headroom.Register(budget);
        LearnedJob job = Learn(4, 4);
        ReservationAccount older = Begin(budget, job);
        ReservationAccount younger = Begin(budget, job);
        ReservationAccount decoding = Begin(budget, job);
        left.Now = Left(212);
        clock.Advance(TimeSpan.FromSeconds(1));
        BudgetRequest ofOlder = Grow(older);
        BudgetRequest ofYounger = Grow(younger);
        left.Now = Left(216);
        decoding.Close();
        Assert.True(ofOlder.IsWaiting && ofYounger.IsWaiting, $"{ofOlder.Outcome}, {ofYounger.Outcome}");
        clock.Advance(TimeSpan.FromSeconds(1));
        budget.Look();
        Assert.True(ofOlder.IsGranted && ofYounger.IsWaiting, $"{ofOlder.Outcome}, {ofYounger.Outcome}");
        older.Close();
        Assert.True(ofYounger.IsGranted);

        BudgetRequest Grow(ReservationAccount account)
        {
            BudgetRequest request = new(account.AsGrowth(), 8 * Unit);
            Assert.False(request.Account.TryTakeNow(request.Bytes));
            budget.Post(request);
            return request;
        }

        static Headroom Left(long units) => new(1000 * Unit, units * Unit, units * Unit);
    }

    // Garbage looks like used memory.
    [Theory]
    [InlineData(8, true)]
    [InlineData(0, false)]
    public void DoWork_AllJobsWaitInAFullContainer_MakesRoomBeforeTheYoungestFails(long garbage, bool isEnough)
    {
        FakeHeadroom left = new() { Now = new Headroom(1000 * Unit, 208 * Unit, 208 * Unit) };
        FakeClock clock = new();
        int attempts = 0;
        MemoryBudget budget = new(clock: clock)
        {
            Headroom = new ProcessHeadroom(left, clock),
            MinimumFreeBytes = 200 * Unit,
            BeforeRefusal = () =>
            {
                attempts++;
                left.Now = new Headroom(1000 * Unit, (208 + garbage) * Unit, (208 + garbage) * Unit);
            },
        };
        budget.Headroom.Register(budget);
        LearnedJob job = Learn(4, 4);
        ReservationAccount older = Begin(budget, job);
        ReservationAccount younger = Begin(budget, job);
        BudgetRequest ofOlder = new(older.AsGrowth(), 4 * Unit);
        BudgetRequest ofYounger = new(younger.AsGrowth(), 4 * Unit);
        budget.Post(ofOlder);
        budget.Post(ofYounger);
        budget.Look();
        Assert.True(ofOlder.IsWaiting && ofYounger.IsWaiting && attempts == 0, $"{ofOlder.Outcome}, {ofYounger.Outcome}");

        ((IBackgroundWork)budget).DoWork();

        Assert.Equal(1, attempts);
        Assert.Equal((isEnough, isEnough), (ofOlder.IsGranted, ofYounger.IsGranted));
        Assert.Equal(isEnough ? BudgetOutcome.Granted : BudgetOutcome.Stuck, ofYounger.Outcome);
        younger.Close();
        Assert.True(ofOlder.IsGranted);
        older.Close();
    }

    // Two allocators in one container: what the other's jobs return makes room too.
    [Fact]
    public void DoWork_OnlyTheJobsOfAnotherAllocatorRun_WaitsForThem()
    {
        FakeHeadroom left = new() { Now = new Headroom(1000 * Unit, 208 * Unit, 208 * Unit) };
        FakeClock clock = new();
        ProcessHeadroom headroom = new(left, clock);
        MemoryBudget budget = new(clock: clock) { Headroom = headroom, MinimumFreeBytes = 200 * Unit };
        MemoryBudget others = new(clock: clock) { Headroom = headroom, MinimumFreeBytes = 200 * Unit };
        headroom.Register(budget);
        headroom.Register(others);
        LearnedJob job = Learn(4, 4);
        ReservationAccount waiting = Begin(budget, job);
        ReservationAccount running = Begin(others, job);
        BudgetRequest growth = new(waiting.AsGrowth(), 4 * Unit);
        budget.Post(growth);
        ((IBackgroundWork)budget).DoWork();
        Assert.True(growth.IsWaiting);

        running.Close();
        budget.Look();
        Assert.True(growth.IsGranted);
        waiting.Close();
    }

    // Most of 64 needed the one, some of them the other.
    private static LearnedJob Learn(long usual, long most)
    {
        LearnedJob job = new("");
        for (int i = 0; i < 64; i++)
        {
            job.End((i < 60 ? usual : most) * Unit, isRefused: false);
        }

        return job;
    }

    private static ReservationAccount Begin(MemoryBudget budget, LearnedJob job)
    {
        long bytes = job.SizeFor(budget);
        Assert.True(budget.TryBegin(job, bytes, overtakes: false));
        return new ReservationAccount(budget, bytes) { Job = job };
    }
}
