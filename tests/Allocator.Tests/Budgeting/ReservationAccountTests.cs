using Allocator.Budgeting;

namespace Allocator.Tests.Budgeting;

public class ReservationAccountTests
{
    [Fact]
    public void Return_WithinTheReservation_LetsItsOwnWaiterIn()
    {
        MemoryBudget budget = new(100);
        ReservationAccount account = Reserve(budget, 50);
        budget.TryTake(50, overtakes: false);
        account.TryTake(50, overtakes: false);
        BudgetRequest own = Post(account, 20);
        Assert.True(own.IsWaiting);
        account.Return(20);
        Assert.True(own.IsGranted);
        Assert.Equal((100L, false), (budget.AdmittedBytes, budget.HasWaiters));
    }

    // Else a job would wait for the head, and the head for what the job holds.
    [Fact]
    public void Return_HeadMayNoLongerBeOvertaken_ReservationStillUsesItsOwn()
    {
        MemoryBudget budget = new(100);
        ReservationAccount account = Reserve(budget, 50);
        account.TryTake(50, overtakes: false);
        budget.TryTake(20, overtakes: false);
        BudgetRequest head = Post(budget, 100);
        for (int i = 0; i < BudgetQueue.MaximumOvertakes; i++)
        {
            Assert.True(Post(budget, 1).IsGranted);
        }

        BudgetRequest own = Post(account, 20);
        Assert.True(own.IsWaiting);
        account.Return(20);
        Assert.True(own.IsGranted && head.IsWaiting);
    }

    [Fact]
    public void Post_OneReservationStillRuns_NoneFailsUntilItWaitsToo()
    {
        FakeClock clock = new();
        MemoryBudget budget = new(100, clock);
        ReservationAccount older = Reserve(budget, 50);
        ReservationAccount younger = Reserve(budget, 40);
        budget.TryTake(10, overtakes: false);
        older.TryTake(50, overtakes: false);
        younger.TryTake(40, overtakes: false);
        BudgetRequest ofYounger = Post(younger, 20);
        Advance(clock, budget, TimeSpan.FromMinutes(1));
        Assert.True(ofYounger.IsWaiting);
        BudgetRequest ofOlder = Post(older, 20);
        Assert.True(ofYounger.IsWaiting && ofOlder.IsWaiting);

        // The plain allocation goes; from now on nothing can move.
        budget.Return(10);
        Assert.Equal(BudgetOutcome.Stuck, ofYounger.Outcome);
        Assert.True(ofOlder.IsWaiting);

        // Its job ends, as it must, and the other goes on.
        younger.Return(40);
        younger.Close();
        Assert.True(ofOlder.IsGranted);
        Assert.Equal(70, budget.AdmittedBytes);
    }

    // What belongs to no reservation may come back, or never: no one knows.
    [Theory]
    [InlineData(0, 5)]
    [InlineData(3, 5)]
    [InlineData(30, 30)]
    public void Post_OnlyPlainMemoryCouldMakeRoom_GrowthWaitsFiveSecondsOrTheTimeoutForIt(int timeoutSeconds, int expectedSeconds)
    {
        FakeClock clock = new();
        MemoryBudget budget = new(100, clock, TimeSpan.FromSeconds(timeoutSeconds));
        ReservationAccount older = Reserve(budget, 40);
        ReservationAccount younger = Reserve(budget, 40);
        budget.TryTake(20, overtakes: false);
        older.TryTake(40, overtakes: false);
        younger.TryTake(40, overtakes: false);
        BudgetRequest ofOlder = Post(older, 30);
        Advance(clock, budget, TimeSpan.FromMinutes(1));
        BudgetRequest ofYounger = Post(younger, 30);
        Advance(clock, budget, TimeSpan.FromSeconds(expectedSeconds) - TimeSpan.FromMilliseconds(1));
        Assert.True(ofOlder.IsWaiting && ofYounger.IsWaiting);
        Advance(clock, budget, TimeSpan.FromMilliseconds(1));
        Assert.Equal(BudgetOutcome.Stuck, ofYounger.Outcome);
        Assert.True(ofOlder.IsWaiting);

        // The job whose growth failed runs again: it is waited for.
        Advance(clock, budget, TimeSpan.FromMinutes(1));
        Assert.True(ofOlder.IsWaiting);
        younger.Return(40);
        younger.Close();
        Assert.True(ofOlder.IsGranted);
    }

    [Fact]
    public void Post_OnlyPlainMemoryCouldMakeRoomAndWaitsAreForEver_GrowthWaitsForEver()
    {
        FakeClock clock = new();
        MemoryBudget budget = new(100, clock, Timeout.InfiniteTimeSpan);
        ReservationAccount account = Reserve(budget, 50);
        budget.TryTake(50, overtakes: false);
        account.TryTake(50, overtakes: false);
        BudgetRequest growth = Post(account, 10);
        Advance(clock, budget, TimeSpan.FromDays(1));
        Assert.True(growth.IsWaiting);
        budget.Return(50);
        Assert.True(growth.IsGranted);
    }

    // A short interruption starts the time anew.
    [Fact]
    public void Post_ReservationRanMeanwhile_WaitForPlainMemoryStartsAnew()
    {
        FakeClock clock = new();
        MemoryBudget budget = new(100, clock);
        ReservationAccount account = Reserve(budget, 50);
        budget.TryTake(40, overtakes: false);
        account.TryTake(50, overtakes: false);
        BudgetRequest growth = Post(account, 30);
        Advance(clock, budget, TimeSpan.FromSeconds(4));
        ReservationAccount other = Reserve(budget, 5);
        budget.ServeWaiters();
        Advance(clock, budget, TimeSpan.FromSeconds(4));
        other.Close();
        Advance(clock, budget, TimeSpan.FromSeconds(4));
        Assert.True(growth.IsWaiting);
        Advance(clock, budget, TimeSpan.FromSeconds(1));
        Assert.Equal(BudgetOutcome.Stuck, growth.Outcome);
    }

    // It waits only because room is kept for another, which waits for it.
    [Fact]
    public void Post_GrowthFitsButRoomIsKeptForOneThatWaitsForIt_IsGranted()
    {
        MemoryBudget budget = new(200);
        ReservationAccount account = Reserve(budget, 10);
        BudgetRequest head = Post(budget, 195);
        for (int i = 0; i < BudgetQueue.MaximumOvertakes; i++)
        {
            Assert.True(Post(budget, 1).IsGranted);
            budget.Return(1);
        }

        Assert.True(account.TryTake(10, overtakes: false));
        BudgetRequest beyondTwice = Post(account, 30);
        Assert.True(beyondTwice.IsGranted && head.IsWaiting);
    }

    // One part of a job waits while another returns its memory. That must not go on for ever.
    [Fact]
    public void Post_PartsOfOneJobTakeTurns_FirstInLineIsServed()
    {
        FakeClock clock = new();
        MemoryBudget budget = new(200, clock);
        ReservationAccount job = Reserve(budget, 10);
        Assert.True(job.TryTake(55, overtakes: true));
        BudgetRequest large = Post(budget, 150);
        int overtakes = 0;
        while (!large.IsGranted)
        {
            BudgetRequest frame = Post(job, 45);
            overtakes += frame.IsGranted && !large.IsGranted ? 1 : 0;
            Assert.InRange(overtakes, 0, 3 * BudgetQueue.MaximumOvertakes);
            job.Return(45);
            Advance(clock, budget, TimeSpan.FromSeconds(1));
        }
    }

    // If they can do nothing but wait, one goes on after five seconds.
    [Fact]
    public void Post_GrowthFitsButHasPassedTheFirstInLineTooOften_IsGrantedAfterFiveSeconds()
    {
        FakeClock clock = new();
        MemoryBudget budget = new(200, clock, Timeout.InfiniteTimeSpan);
        ReservationAccount job = Reserve(budget, 1);
        Assert.True(job.TryTake(2, overtakes: true));
        BudgetRequest large = Post(budget, 199);
        for (int i = 0; i < 2 * BudgetQueue.MaximumOvertakes; i++)
        {
            Assert.True(Post(job, 1).IsGranted);
        }

        BudgetRequest more = Post(job, 1);
        Advance(clock, budget, TimeSpan.FromSeconds(5) - TimeSpan.FromMilliseconds(1));
        Assert.True(more.IsWaiting);
        Advance(clock, budget, TimeSpan.FromMilliseconds(1));
        Assert.True(more.IsGranted && large.IsWaiting);
    }

    // Growth of a young job leaves room for growth up to twice, but not if that one waits for the job.
    [Fact]
    public void Post_GrowthFitsButHasPassedAnotherTooOften_IsGrantedWhenBothWait()
    {
        LearnedJob tiny = new("");
        tiny.Of(1).End(1, 1, 0, isSolo: true, isRefused: false);
        MemoryBudget budget = new(170L << 16);
        ReservationAccount older = Reserve(budget, 60L << 16);
        Assert.True(older.TryTake(60L << 16, overtakes: false));
        ReservationAccount younger = BegunAccount.TryByName(budget, tiny)!;
        Assert.True(younger.TryTake(60L << 16, overtakes: true));
        BudgetRequest promised = Post(older, 60L << 16);
        Assert.True(promised.IsWaiting);
        for (int i = 0; i < 40; i++)
        {
            Assert.True(Post(younger, 1L << 16).IsGranted, $"Step {i} was refused.");
        }

        younger.Return(100L << 16);
        younger.Close();
        Assert.True(promised.IsGranted);
    }

    // It has other plans, and is about to give something back.
    [Fact]
    public void Post_TheOtherReservationOnlyAsks_NoneFails()
    {
        MemoryBudget budget = new(100);
        ReservationAccount older = Reserve(budget, 50);
        ReservationAccount younger = Reserve(budget, 50);
        older.TryTake(50, overtakes: false);
        younger.TryTake(50, overtakes: false);
        BudgetRequest waits = Post(younger, 10);
        Assert.Equal(BudgetOutcome.Cancelled, Post(older, 10, mayWait: false).Outcome);
        Assert.True(waits.IsWaiting);
        older.Return(50);
        older.Close();
        Assert.True(waits.IsGranted);
    }

    [Fact]
    public void Close_ReservationMadeInItsUseGoesOn_CountsAsRunning()
    {
        FakeClock clock = new();
        MemoryBudget budget = new(100, clock);
        ReservationAccount first = Reserve(budget, 50);
        AmbientAccount use = new(first, budget.Jobs);
        ReservationAccount nested = Reserve(use, 30);
        Assert.Same(first, nested.OutermostReservation);
        first.Close();
        use.Leave();
        Assert.Same(nested, nested.OutermostReservation);
        Assert.Equal(30, budget.AdmittedBytes);

        // It holds memory and does not wait, so growth of another waits for it, however long.
        ReservationAccount other = Reserve(budget, 50);
        BudgetRequest growth = Post(other.AsGrowth(), 30);
        Advance(clock, budget, TimeSpan.FromMinutes(1));
        Assert.True(growth.IsWaiting);

        // Until it waits too.
        BudgetRequest ofNested = Post(nested.AsGrowth(), 30);
        Assert.Equal((true, BudgetOutcome.Stuck), (ofNested.IsWaiting, growth.Outcome));
        other.Close();
        Assert.True(ofNested.IsGranted);
        nested.Close();
        Assert.Equal(0, budget.AdmittedBytes);
        using (budget.Lock.Enter())
        {
            Assert.Equal(0, budget.ReservedBytes);
        }
    }

    // Jobs that hold nothing do not end where one of them fails.
    [Fact]
    public void Post_EmptyReservationWaitsToo_TheYoungestThatHoldsMemoryFails()
    {
        MemoryBudget budget = new(100);
        ReservationAccount older = Reserve(budget, 50);
        ReservationAccount younger = Reserve(budget, 50);
        ReservationAccount empty = Reserve(budget, 0);
        older.TryTake(50, overtakes: false);
        younger.TryTake(50, overtakes: false);
        BudgetRequest ofEmpty = Post(empty, 10);
        BudgetRequest ofOlder = Post(older, 10);
        BudgetRequest ofYounger = Post(younger, 10);
        Assert.Equal(BudgetOutcome.Stuck, ofYounger.Outcome);
        Assert.True(ofOlder.IsWaiting && ofEmpty.IsWaiting);
    }

    [Fact]
    public void Post_GrowthUpToTwiceTheReservation_GoesAheadOfEarlierRequests()
    {
        MemoryBudget budget = new(100);
        ReservationAccount account = Reserve(budget, 30);
        account.TryTake(30, overtakes: false);
        budget.TryTake(60, overtakes: false);
        BudgetRequest plain = Post(budget, 20);
        BudgetRequest beyond = Post(account, 31);
        BudgetRequest within = Post(account, 30);
        budget.Return(20);
        Assert.True(within.IsGranted && plain.IsWaiting && beyond.IsWaiting);
        budget.Return(20);
        Assert.True(plain.IsGranted && beyond.IsWaiting);
    }

    // Growth that waits is a head too.
    [Fact]
    public void Post_GrowthThatGoesAheadDoesNotFit_IsOvertakenSixteenTimesAtMost()
    {
        MemoryBudget budget = new(100);
        ReservationAccount account = Reserve(budget, 40);
        ReservationAccount running = Reserve(budget, 10);
        account.TryTake(40, overtakes: false);
        BudgetRequest growth = Post(account, 40);
        Assert.True(growth.IsGranted);
        budget.TryTake(5, overtakes: false);
        account.EndCharge(40);
        budget.TryTake(30, overtakes: false);
        BudgetRequest again = Post(account, 40);
        Assert.True(again.IsWaiting && running.RemainingBytes == 10);
        int overtakes = 0;
        for (int i = 0; i < 100; i++)
        {
            BudgetRequest newcomer = Post(budget, 1, mayWait: false);
            overtakes += newcomer.IsGranted ? 1 : 0;
            budget.Return(newcomer.IsGranted ? 1 : 0);
        }

        Assert.Equal(BudgetQueue.MaximumOvertakes, overtakes);
        budget.Return(35);
        Assert.True(again.IsGranted);
    }

    // It is its size when it was made that gives it its place: else a tiny reservation would grow for ever ahead of all others.
    [Fact]
    public void Post_GrownReservationGrows_GoesAheadUpToTwiceItsOriginalSize()
    {
        MemoryBudget budget = new(100);
        ReservationAccount account = Reserve(budget, 20);
        budget.TryTake(50, overtakes: false);
        BudgetRequest plain = Post(budget, 60);
        Assert.True(Post(account.AsGrowth(), 15).IsGranted);
        BudgetRequest beyond = Post(account.AsGrowth(), 16);
        BudgetRequest within = Post(account.AsGrowth(), 5);
        Assert.True(plain.IsWaiting && beyond.IsWaiting && within.IsGranted);
        Assert.Equal((20L, 40L, 90L), (account.OriginalBytes, account.ReservedBytes, budget.AdmittedBytes));
        budget.Return(50);
        Assert.True(plain.IsGranted && beyond.IsWaiting);
        BudgetRequest byUse = Post(account, 41);
        budget.Return(60);
        Assert.True(beyond.IsGranted && byUse.IsGranted);
    }

    [Fact]
    public void Post_GrowthBeyondTwiceTheReservation_OvertakesSixteenTimesAtMost()
    {
        MemoryBudget budget = new(100);
        ReservationAccount account = Reserve(budget, 1);
        budget.TryTake(40, overtakes: false);
        BudgetRequest head = Post(budget, 100);
        int grown = 0;
        for (int i = 0; i < 50; i++)
        {
            grown += Post(account.AsGrowth(), 1, mayWait: false).IsGranted ? 1 : 0;
        }

        // The first is within twice its size.
        Assert.Equal(BudgetQueue.MaximumOvertakes + 1, grown);
        Assert.True(head.IsWaiting);
    }

    [Fact]
    public void Return_OfAGrownReservation_ReturnsTheOverflow()
    {
        MemoryBudget budget = new(100);
        ReservationAccount account = Reserve(budget, 40);
        Assert.True(account.TryTake(60, overtakes: false));
        Assert.True(account.AsGrowth().TryTake(10, overtakes: false));
        Assert.Equal((70L, 10L, 70L), (budget.AdmittedBytes, account.RemainingBytes, budget.ReservedBytes));
        account.Return(15);
        Assert.Equal((55L, 10L, 55L), (budget.AdmittedBytes, account.RemainingBytes, budget.ReservedBytes));
        account.Return(15);
        Assert.Equal((50L, 20L, 50L), (budget.AdmittedBytes, account.RemainingBytes, budget.ReservedBytes));
        account.Return(30);
        account.Close();
        Assert.Equal((0L, 0L), (budget.AdmittedBytes, budget.ReservedBytes));
    }

    // A wait that is cancelled when it has just been granted.
    [Fact]
    public void Return_GrowthIsInUse_StaysChargedUntilTheMemoryIsReturned()
    {
        MemoryBudget budget = new(100);
        ReservationAccount account = Reserve(budget, 40);
        BudgetAccount growth = account.AsGrowth();
        Assert.True(growth.TryTake(30, overtakes: false));
        Assert.True(account.TryTake(60, overtakes: false));
        growth.Return(30);
        Assert.Equal((60L, 40L, 0L), (budget.AdmittedBytes, account.ReservedBytes, account.RemainingBytes));
        account.Return(60);
        Assert.Equal((40L, 40L), (budget.AdmittedBytes, budget.ReservedBytes));
        Assert.True(growth.TryTake(30, overtakes: false));
        account.Close();
        growth.Return(30);
        Assert.Equal((0L, 0L), (budget.AdmittedBytes, budget.ReservedBytes));
    }

    // The head waits for what the reservation holds: so the reservation comes first, wherever there is room.
    [Fact]
    public void Post_HeadMayNoLongerBeOvertaken_ReservationsComeFirst()
    {
        MemoryBudget budget = new(100);
        ReservationAccount account = Reserve(budget, 50);
        account.TryTake(50, overtakes: false);
        BudgetRequest head = Post(budget, 100);
        for (int i = 0; i < BudgetQueue.MaximumOvertakes; i++)
        {
            Assert.True(Post(budget, 1).IsGranted);
        }

        Assert.True(Post(budget, 1).IsWaiting);
        Assert.True(Post(account, 10).IsGranted);
        Assert.True(head.IsWaiting);
    }

    // The ticks of the trim scheduler serve waiters.
    private static void Advance(FakeClock clock, MemoryBudget budget, TimeSpan time)
    {
        clock.Advance(time);
        budget.ServeWaiters();
    }

    private static ReservationAccount Reserve(BudgetAccount parent, long bytes) => BegunAccount.Of(parent, bytes);

    private static BudgetRequest Post(BudgetAccount account, long bytes, bool mayWait = true)
    {
        BudgetRequest request = new(account, bytes);
        account.Budget!.Post(request, mayWait);
        return request;
    }
}
