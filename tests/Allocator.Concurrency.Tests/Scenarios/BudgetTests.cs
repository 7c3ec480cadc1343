using Allocator.Budgeting;
using Allocator.Concurrency.Seam;
using Xunit.Abstractions;

namespace Allocator.Concurrency.Scenarios;

public sealed class BudgetTests : Exploring
{
    // The smallest step of what is learned.
    private const long Unit = 64 * 1024;

    public BudgetTests(ITestOutputHelper output)
        : base(output)
    {
    }

    [Fact]
    public void Return_WhileAnotherBeginsToWait_WakesIt() =>
        ExpectNoFailure(static () => new BudgetScenario(1) { Grants = 1 }.Returns(1).Waits(1));

    [Fact]
    public void Return_OfTwoWhileAnotherWaitsForBoth_WakesIt() =>
        ExpectNoFailure(static () => new BudgetScenario(2) { Grants = 1 }.Returns(1).Returns(1).Waits(2));

    [Fact]
    public void Return_WhileTwoBeginToWait_WakesOne() =>
        ExpectNoFailure(static () => new BudgetScenario(1) { Grants = 1 }.Returns(1).Waits(1).Waits(1));

    [Fact]
    public void GiveUp_WhileGranted_LosesNothing() =>
        ExpectNoFailure(static () => new BudgetScenario(1).Returns(1).GivesUp(1));

    [Fact]
    public void GiveUp_OfALargeOneBeforeASmallOne_LetsTheSmallOneIn() =>
        ExpectNoFailure(static () => new BudgetScenario(2) { Grants = 1 }.Holds(1).GivesUp(2).Waits(1));

    [Fact]
    public void TryTake_BesideAWaiter_NeverExceedsTheLimit() =>
        ExpectNoFailure(static () => new BudgetScenario(2) { Grants = 1 }.TakesAndReturns(2).TakesAndReturns(1).Waits(1));

    [Fact]
    public void Close_OfAReservationWhileItIsUsed_ReturnsAllOnce() => ExpectNoFailure(static () =>
        new BudgetScenario(2).Reserved(1, 0, out ReservationAccount account).TakesAndReturns(account, 1).Closes(account).Waits(2));

    [Fact]
    public void TryTake_BeyondAReservationByTwo_ChargesTheParentOnce() => ExpectNoFailure(static () =>
        new BudgetScenario(3).Reserved(1, 0, out ReservationAccount account).TakesAndReturns(account, 2).TakesAndReturns(account, 1));

    [Fact]
    public void Wait_OfTwoReservationsForEachOther_FailsTheYoungest() => ExpectNoFailure(static () =>
    {
        BudgetScenario run = new BudgetScenario(2) { Grants = 0 }.Reserved(1, 1, out ReservationAccount older)
            .Reserved(1, 1, out ReservationAccount younger);
        return run.Waits(older, 1).Waits(younger, 1);
    });

    [Fact]
    public void Close_WhileARequestBeginsToWait_FailsIt() =>
        ExpectNoFailure(static () => new BudgetScenario(1).Returns(1).Waits(1).ClosesAll());

    [Fact]
    public void Ask_WhileAnotherBeginsToWait_LosesNothing() =>
        ExpectNoFailure(static () => new BudgetScenario(2).Returns(1).Waits(2).Asks(1));

    // One of two may pass: it has been overtaken 15 times.
    [Fact]
    public void Ask_TwoWhileTheFirstInLineMayBeOvertakenOnceMore_PassesItOnce() => ExpectNoFailure(static () =>
        new BudgetScenario(3) { Grants = 1 }.Holds(1).WaitsOvertaken(BudgetQueue.MaximumOvertakes - 1, 3).Asks(1).Asks(1));

    // Its bound begins when it is the first.
    [Fact]
    public void Ask_WhileTheFirstInLineGivesUp_LosesNothing() => ExpectNoFailure(static () =>
        new BudgetScenario(3).Holds(1).WaitsOvertaken(BudgetQueue.MaximumOvertakes, 3, givesUp: true).WaitsOvertaken(0, 3).Asks(1));

    [Fact]
    public void Return_OfAReservationWhileAnotherBeginsToWait_WakesIt() => ExpectNoFailure(static () =>
        new BudgetScenario(2) { Grants = 1 }.Reserved(1, 0, out ReservationAccount account).TakesAndReturns(account, 2).Waits(1));

    [Fact]
    public void Grow_WhileAnotherReturns_GetsIt() => ExpectNoFailure(static () =>
        new BudgetScenario(3) { Grants = 1 }.Returns(1).Holds(1).Reserved(1, 1, out ReservationAccount account).Grows(account, 1));

    [Fact]
    public void Grow_WhileAllElseReturns_GetsIt() => ExpectNoFailure(static () =>
        new BudgetScenario(2) { Grants = 1 }.Returns(1).Reserved(1, 1, out ReservationAccount account).Grows(account, 1));

    [Fact]
    public void Grow_BesideAnOverflowThatIsReturned_ChargesTheParentOnce() => ExpectNoFailure(static () =>
        new BudgetScenario(3) { Grants = 1 }.Reserved(1, 0, out ReservationAccount account).TakesAndReturns(account, 2).Grows(account, 1));

    [Fact]
    public void Grow_GivenUpWhileGrantedAndUsed_ReturnsAll() => ExpectNoFailure(static () =>
        new BudgetScenario(3).Returns(1)
            .Reserved(1, 0, out ReservationAccount account).Grows(account, 2, givesUp: true).TakesAndReturns(account, 1));

    // The first one claimed half of 13 units, and teaches that one is enough: then there is room for both.
    [Fact]
    public void Close_OfALearnedReservationWhileTwoBeginToWait_LetsBothInByWhatItTaught() => ExpectNoFailure(static () =>
    {
        BudgetScenario run = new(16 * Unit) { Grants = 2 };
        LearnedJob job = run.Budget.Jobs.Get("");
        return run.Holds(3 * Unit).ReservedLearned(job, Unit, out ReservationAccount first)
            .Closes(first).WaitsLearned(job).WaitsLearned(job);
    });

    // Four units each, and 6 are left. One of them closes, so there is room for one that waits, whichever thread comes first.
    [Fact]
    public void Close_OfOneOfTwoLearnedReservationsWhileAnotherWaits_LetsItIn() => ExpectNoFailure(static () =>
    {
        BudgetScenario run = new(10 * Unit) { Grants = 1 };
        LearnedJob job = Learn(run, 4);
        return run.ReservedLearned(job, Unit, out ReservationAccount first).ReservedLearned(job, Unit, out _)
            .Closes(first).WaitsLearned(job);
    });

    [Fact]
    public void GiveUp_OfALearnedReservationWhileAnotherCloses_LeavesNothing() => ExpectNoFailure(static () =>
    {
        BudgetScenario run = new(4 * Unit);
        LearnedJob job = Learn(run, 4);
        return run.ReservedLearned(job, Unit, out ReservationAccount first).Closes(first).WaitsLearned(job, givesUp: true);
    });

    [Fact]
    public void Grow_OfALearnedReservationWhileTheFirstEnds_GetsIt() => ExpectNoFailure(static () =>
    {
        BudgetScenario run = new(12 * Unit) { Grants = 1 };
        LearnedJob job = Learn(run, 4);
        return run.ReservedLearned(job, Unit, out ReservationAccount first).ReservedLearned(job, Unit, out ReservationAccount second)
            .Closes(first).Grows(second, 8 * Unit);
    });

    [Fact]
    public void Reserve_ByNameWhileALearnedReservationGrowsAndEnds_LosesNothing() => ExpectNoFailure(static () =>
    {
        BudgetScenario run = new(16 * Unit);
        LearnedJob job = Learn(run, 4);
        return run.ReservedLearned(job, Unit, out ReservationAccount first).Grows(first, 8 * Unit).Closes(first).WaitsLearned(job);
    });

    private static LearnedJob Learn(BudgetScenario run, long units)
    {
        LearnedJob job = run.Budget.Jobs.Get("");
        for (int i = 0; i < 64; i++)
        {
            job.Of(1).End(1, units * Unit, elsewhereBytes: null, isSolo: false, isRefused: false);
        }

        return job;
    }

    [Fact]
    public void Close_OfAReservationWhileItGrows_ReturnsAll() => ExpectNoFailure(static () =>
        new BudgetScenario(2).Reserved(1, 0, out ReservationAccount account).Grows(account, 1).Closes(account).Waits(2));

    [Fact]
    public void Grow_OfTwoReservationsThatWaitForEachOther_FailsTheYoungest() => ExpectNoFailure(static () =>
    {
        BudgetScenario run = new BudgetScenario(2) { Grants = 0 }
            .Reserved(1, 1, out ReservationAccount older).Reserved(1, 0, out ReservationAccount younger);
        return run.Grows(older, 1).Grows(younger, 1);
    });

    [Fact]
    public void Return_NoMemoryToNotifyTheWaiter_NotifiesItAtTheNextTick()
    {
        WorkItems.Clear();
        MemoryBudget budget = new(1, new StillClock());
        Assert.True(budget.TryTake(1, overtakes: false));
        BudgetRequest first = new(budget, 1);
        BudgetRequest second = new(budget, 1);
        budget.Post(first);
        budget.Post(second);
        WorkItems.HasMemory = false;
        try
        {
            budget.Return(1);
            Assert.True(first.IsGranted && !first.Task.IsCompleted);
            budget.Return(1);
            Assert.True(second.IsGranted && !second.Task.IsCompleted);
            WorkItems.DoAll();
            BackgroundThread.RetryAll();
            Assert.False(first.Task.IsCompleted || second.Task.IsCompleted);
        }
        finally
        {
            WorkItems.HasMemory = true;
        }

        BackgroundThread.RetryAll();
        Assert.False(budget.HasWaiters);
        Assert.True(System.Threading.SpinWait.SpinUntil(
            () => first.Task.IsCompleted && second.Task.IsCompleted, TimeSpan.FromSeconds(30)));
    }

    [Fact]
    public void Post_ThatDoesNotCountTheWaiterFirst_IsFound() =>
        ExpectFailure(
            new Weakness("MemoryBudget.CountWaiter", "Add", WeaknessKind.DoesNothing), "A wake-up was lost",
            static () => new BudgetScenario(1).Returns(1).Waits(1));

    [Fact]
    public void TryTake_OfTwoWithinAReservation_ChargesEachOnce() => ExpectNoFailure(static () =>
        new BudgetScenario(2).Reserved(2, 0, out ReservationAccount account).TakesAndReturns(account, 1).TakesAndReturns(account, 2));

    [Fact]
    public void TryTake_WithinAReservationThatCloses_ReturnsAllOnce() => ExpectNoFailure(static () =>
        new BudgetScenario(2).Reserved(2, 0, out ReservationAccount account)
            .TakesAndReturns(account, 1).TakesAndReturns(account, 1).Closes(account));

    [Fact]
    public void TryTake_WithinAReservationByReadAndWrite_IsFound() =>
        ExpectFailure(
            new Weakness("ReservationAccount.TryChangeSpare", "CompareExchange", WeaknessKind.ComparesNothing), "At the end",
            static () => new BudgetScenario(2).Reserved(2, 0, out ReservationAccount account)
                .TakesAndReturns(account, 1).TakesAndReturns(account, 1).Waits(1));

    [Fact]
    public void Close_ThatDoesNotHoldWhatIsSpare_IsFound() =>
        ExpectFailure(
            new Weakness("ReservationAccount.HoldSpare", "Exchange", WeaknessKind.DoesNothing), "At the end",
            static () => new BudgetScenario(2).Reserved(2, 0, out ReservationAccount account).TakesAndReturns(account, 1).Closes(account));

    [Fact]
    public void TryTake_ReadThenWriteInPlaceOfCompareExchange_IsFound() =>
        ExpectFailure(
            new Weakness("MemoryBudget.TryAdd", "CompareExchange", WeaknessKind.ComparesNothing), "At the end",
            static () => new BudgetScenario(2).TakesAndReturns(1).TakesAndReturns(1));
}
