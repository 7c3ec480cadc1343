using Allocator.Budgeting;

namespace Allocator.Tests.Budgeting;

/// <summary>Growth of jobs by name where only a minimum must stay free.</summary>
public class FullContainerTests
{
    private const long Unit = LearnedSize.Granularity;

    // The figures of the container are some milliseconds old: they show what a codec has freed since. No job may fail for that.
    [Fact]
    public void Close_CodecFreedItsMemorySinceTheLastReading_FailsNoGrowth()
    {
        FakeHeadroom left = new() { Now = Left(216) };
        FakeClock clock = new();
        MemoryBudget budget = new(clock: clock) { Headroom = new ProcessHeadroom(left, clock), MinimumFreeBytes = 200 * Unit };
        budget.Headroom.Register(budget);
        ReservationAccount older = Begin(budget);
        ReservationAccount younger = Begin(budget);
        ReservationAccount decoding = Begin(budget);
        left.Now = Left(12);
        clock.Advance(TimeSpan.FromSeconds(1));
        BudgetRequest ofOlder = Grow(older);
        BudgetRequest ofYounger = Grow(younger);
        left.Now = Left(16);
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
        FakeHeadroom left = new() { Now = new Headroom(1000 * Unit, 8 * Unit, 8 * Unit) };
        FakeClock clock = new();
        int attempts = 0;
        MemoryBudget budget = new(clock: clock)
        {
            Headroom = new ProcessHeadroom(left, clock),
            MinimumFreeBytes = 200 * Unit,
            BeforeRefusal = () =>
            {
                attempts++;
                left.Now = new Headroom(1000 * Unit, (8 + garbage) * Unit, (8 + garbage) * Unit);
            },
        };
        budget.Headroom.Register(budget);
        ReservationAccount older = Begin(budget);
        ReservationAccount younger = Begin(budget);
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
        FakeHeadroom left = new() { Now = new Headroom(1000 * Unit, 8 * Unit, 8 * Unit) };
        FakeClock clock = new();
        ProcessHeadroom headroom = new(left, clock);
        MemoryBudget budget = new(clock: clock) { Headroom = headroom, MinimumFreeBytes = 200 * Unit };
        MemoryBudget others = new(clock: clock) { Headroom = headroom, MinimumFreeBytes = 200 * Unit };
        headroom.Register(budget);
        headroom.Register(others);
        ReservationAccount waiting = Begin(budget);
        ReservationAccount running = Begin(others);
        BudgetRequest growth = new(waiting.AsGrowth(), 4 * Unit);
        budget.Post(growth);
        ((IBackgroundWork)budget).DoWork();
        Assert.True(growth.IsWaiting);

        running.Close();
        budget.Look();
        Assert.True(growth.IsGranted);
        waiting.Close();
    }

    // By name, of a kind that needs four units.
    private static ReservationAccount Begin(MemoryBudget budget)
    {
        LearnedJob job = budget.Jobs.Get("");
        while (job.Jobs < 64)
        {
            job.Of(1).End(1, 4 * Unit, elsewhereBytes: 0, isSolo: true, isRefused: false);
        }

        ReservationAccount? begun = BegunAccount.TryByName(budget, job);
        Assert.NotNull(begun);
        return begun;
    }
}
