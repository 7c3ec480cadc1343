using System;
using Allocator.Budgeting;
using Xunit;

namespace Allocator.Tests.Budgeting;

public class ReservationAccountTests
{
    [Fact]
    public void TryTake_WithinTheReservation_CostsTheBudgetNothingMore()
    {
        MemoryBudget budget = new(100);
        ReservationAccount account = Reserve(budget, 40);
        Assert.True(account.TryTake(30, overtakes: false));
        Assert.Equal((40L, 10L), (budget.UsedBytes, account.RemainingBytes));
        account.Return(30);
        Assert.Equal((40L, 40L), (budget.UsedBytes, account.RemainingBytes));
    }

    [Fact]
    public void TryTake_BeyondTheReservation_TakesTheRestFromTheBudget()
    {
        MemoryBudget budget = new(100);
        ReservationAccount account = Reserve(budget, 40);
        Assert.True(account.TryTake(70, overtakes: false));
        Assert.Equal((70L, 0L), (budget.UsedBytes, account.RemainingBytes));
        Assert.False(account.TryTake(31, overtakes: false));
        Assert.Equal(70, budget.UsedBytes);
        account.Return(20);
        Assert.Equal((50L, 0L), (budget.UsedBytes, account.RemainingBytes));
        account.Return(50);
        Assert.Equal((40L, 40L), (budget.UsedBytes, account.RemainingBytes));
    }

    [Fact]
    public void Close_WhatIsOut_StaysOnTheBudgetUntilItComesBack()
    {
        MemoryBudget budget = new(100);
        ReservationAccount account = Reserve(budget, 40);
        account.TryTake(15, overtakes: false);
        account.Close();
        account.Close();
        Assert.Equal((15L, 0L, true), (budget.UsedBytes, account.RemainingBytes, account.IsClosed));
        Assert.False(account.TryTake(1, overtakes: true));
        account.Return(15);
        Assert.Equal(0, budget.UsedBytes);
    }

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
        Assert.Equal((100L, false), (budget.UsedBytes, budget.HasWaiters));
    }

    // Else a job would wait for the head, and the head for what the job holds.
    [Fact]
    public void Return_HeadMayNoLongerBeOvertaken_LetsTheReservationUseWhatIsItsOwn()
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
    public void Post_AllThatIsOutBelongsToReservationsThatWait_TheYoungestFails()
    {
        MemoryBudget budget = new(100);
        ReservationAccount older = Reserve(budget, 50);
        ReservationAccount younger = Reserve(budget, 50);
        older.TryTake(50, overtakes: false);
        younger.TryTake(50, overtakes: false);
        BudgetRequest ofOlder = Post(older, 10);
        Assert.True(ofOlder.IsWaiting);
        BudgetRequest ofYounger = Post(younger, 10);
        Assert.False(ofYounger.IsWaiting);
        Assert.True(ofOlder.IsWaiting);
        MemoryLimitExceededException failure = Assert.IsType<MemoryLimitExceededException>(ofYounger.Settled.Exception!.InnerException);
        Assert.Contains("youngest", failure.Message);
    }

    [Fact]
    public void Post_OneReservationStillRuns_NobodyFailsUntilItWaitsToo()
    {
        MemoryBudget budget = new(100);
        ReservationAccount older = Reserve(budget, 50);
        ReservationAccount younger = Reserve(budget, 40);
        budget.TryTake(10, overtakes: false);
        older.TryTake(50, overtakes: false);
        younger.TryTake(40, overtakes: false);
        BudgetRequest ofYounger = Post(younger, 20);
        BudgetRequest ofOlder = Post(older, 20);
        Assert.True(ofYounger.IsWaiting && ofOlder.IsWaiting);

        // The plain allocation goes; from now on nothing can move.
        budget.Return(10);
        Assert.True(ofYounger.Settled.IsFaulted);
        Assert.True(ofOlder.IsWaiting);

        // Its job ends, as it must, and the other goes on.
        younger.Return(40);
        younger.Close();
        Assert.True(ofOlder.IsGranted);
        Assert.Equal(70, budget.UsedBytes);
    }

    // It has other plans, and is about to give something back.
    [Fact]
    public void Post_TheOtherReservationOnlyAsks_NobodyFails()
    {
        MemoryBudget budget = new(100);
        ReservationAccount older = Reserve(budget, 50);
        ReservationAccount younger = Reserve(budget, 50);
        older.TryTake(50, overtakes: false);
        younger.TryTake(50, overtakes: false);
        BudgetRequest waits = Post(younger, 10);
        BudgetRequest asks = Post(older, 10, isPatient: false);
        Assert.True(asks.WasConsidered && asks.IsWaiting);
        Assert.True(waits.IsWaiting);
        asks.TryFail(new TimeoutException());
        older.Return(50);
        older.Close();
        Assert.True(waits.IsGranted);
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

    [Fact]
    public void Close_OwnRequestWaits_IsTold()
    {
        MemoryBudget budget = new(100);
        budget.TryTake(50, overtakes: false);
        ReservationAccount account = Reserve(budget, 50);
        BudgetRequest request = Post(account, 60);
        Assert.True(request.IsWaiting);
        account.Close();
        Assert.IsType<ObjectDisposedException>(request.Settled.Exception!.InnerException);
        Assert.Equal(50, budget.UsedBytes);
    }

    [Fact]
    public void TryTake_OfAReservationWithinAReservation_CountsAgainstBoth()
    {
        MemoryBudget budget = new(100);
        ReservationAccount outer = Reserve(budget, 60);
        Assert.True(outer.TryTake(40, overtakes: false));
        ReservationAccount inner = new(outer, 40);
        Assert.True(inner.TryTake(50, overtakes: false));
        Assert.Equal((10L, 60L), (outer.RemainingBytes, budget.UsedBytes));
        Assert.True(inner.TryTake(30, overtakes: false));
        Assert.Equal((0L, 80L), (outer.RemainingBytes, budget.UsedBytes));
        inner.Return(80);
        inner.Close();
        Assert.Equal((60L, 60L), (outer.RemainingBytes, budget.UsedBytes));
        outer.Close();
        Assert.Equal(0, budget.UsedBytes);
    }

    private static ReservationAccount Reserve(MemoryBudget budget, long bytes)
    {
        Assert.True(budget.TryTake(bytes, overtakes: false));
        return new ReservationAccount(budget, bytes);
    }

    private static BudgetRequest Post(BudgetAccount account, long bytes, bool isPatient = true)
    {
        BudgetRequest request = new(account, bytes, isPatient);
        account.Budget!.Post(request);
        return request;
    }
}
