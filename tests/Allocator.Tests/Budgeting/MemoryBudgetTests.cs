using Allocator.Budgeting;

namespace Allocator.Tests.Budgeting;

/// <summary>The budget itself, in units of one byte.</summary>
public class MemoryBudgetTests
{
    [Fact]
    public void TryTake_RequestWaits_LeavesItToTheQueue()
    {
        MemoryBudget budget = new(100);
        budget.TryTake(50, overtakes: false);
        BudgetRequest head = Post(budget, 60);
        Assert.False(budget.TryTake(10, overtakes: false));
        Assert.True(Post(budget, 10).IsGranted);
        Assert.True(head.IsWaiting);
    }

    [Fact]
    public void Post_HeadDoesNotFit_IsOvertakenSixteenTimesAtMost()
    {
        MemoryBudget budget = new(100);
        budget.TryTake(50, overtakes: false);
        BudgetRequest head = Post(budget, 100);
        for (int i = 0; i < BudgetQueue.MaximumOvertakes; i++)
        {
            Assert.True(Post(budget, 1).IsGranted);
        }

        // What comes back from here on accumulates for the head.
        BudgetRequest late = Post(budget, 1);
        budget.Return(50);
        Assert.True(late.IsWaiting && head.IsWaiting);
        budget.Return(15);
        Assert.True(head.IsWaiting);
        budget.Return(1);
        Assert.True(head.IsGranted && late.IsWaiting);
        budget.Return(100);
        Assert.True(late.IsGranted);
    }

    // Found fitting, it would be overtaken by all that come and go one after the other.
    [Fact]
    public void Post_HeadDoesNotFitWhileNewcomersComeAndGo_IsOvertakenSixteenTimesInTotal()
    {
        MemoryBudget budget = new(100);
        budget.TryTake(50, overtakes: false);
        BudgetRequest head = Post(budget, 100);
        int overtakes = 0;
        for (int i = 0; i < 100; i++)
        {
            BudgetRequest newcomer = Post(budget, 1, mayWait: false);
            overtakes += newcomer.IsGranted ? 1 : 0;
            budget.Return(newcomer.IsGranted ? 1 : 0);
        }

        Assert.Equal(BudgetQueue.MaximumOvertakes, overtakes);
        budget.Return(50);
        Assert.True(head.IsGranted);
    }

    [Fact]
    public async Task TryWithdraw_OfTheHead_LetsTheNextOnesIn()
    {
        MemoryBudget budget = new(100);
        budget.TryTake(90, overtakes: false);
        BudgetRequest head = Post(budget, 100);
        BudgetRequest[] others = [.. Enumerable.Range(0, 17).Select(_ => Post(budget, 1))];
        Assert.Equal(10, others.Count(other => other.IsGranted));
        budget.Return(90);
        Assert.Equal(16, others.Count(other => other.IsGranted));

        Assert.True(budget.TryCancel(head));
        Assert.Equal(BudgetOutcome.Cancelled, head.Outcome);
        await head.Task.WaitAsync(TimeSpan.FromSeconds(30));
        Assert.All(others, other => Assert.True(other.IsGranted));
        Assert.Equal((17L, false), (budget.AdmittedBytes, budget.HasWaiters));
    }

    [Fact]
    public void TryWithdraw_AfterTheGrant_ChangesNothing()
    {
        MemoryBudget budget = new(100);
        BudgetRequest request = Post(budget, 100);
        Assert.True(request.IsGranted);
        Assert.False(budget.TryCancel(request));
        Assert.True(request.IsGranted);
    }

    // The thread that returns memory has to find what fits, but not in a queue of any length.
    [Fact]
    public void Return_ManyWaitBehindTheHead_TriesSomeAndEventuallyServesAll()
    {
        MemoryBudget budget = new(100);
        budget.TryTake(100, overtakes: false);
        BudgetRequest head = Post(budget, 100);
        BudgetRequest[] large = [.. Enumerable.Range(0, 1_000).Select(_ => Post(budget, 60))];
        BudgetRequest small = Post(budget, 1);
        budget.Return(50);
        Assert.True(small.IsWaiting);
        budget.Return(50);
        Assert.True(head.IsGranted);
        budget.Return(100);
        for (int i = 0; i < large.Length; i++)
        {
            Assert.True(large[i].IsGranted, $"Request {i}");
            budget.Return(60);
        }

        Assert.True(small.IsGranted);
    }

    [Fact]
    public void Serve_ManyCancelledBehindAWaitingHead_KeepsNone()
    {
        MemoryBudget budget = new(100);
        budget.TryTake(100, overtakes: false);
        BudgetRequest head = Post(budget, 100);
        WeakReference[] gone = PostAndGiveUp(budget, 1_000);
        GC.Collect();
        Assert.InRange(gone.Count(request => request.IsAlive), 0, 100);
        budget.Return(100);
        Assert.True(head.IsGranted);
        Assert.False(budget.HasWaiters);
    }

    // A thousand requests of many threads, each given back by another thread; half of them are given up at some moment.
    [Fact]
    public void Post_ManyThreadsTakeReturnAndGiveUp_NothingIsLostAndNobodyWaitsForEver()
    {
        const int Limit = 64;
        int rounds = 500 * Races.Rounds;
        MemoryBudget budget = new(Limit);
        int granted = 0;
        int ended = 0;
        long held = 0;
        Parallel.For(0, 8, new ParallelOptions { MaxDegreeOfParallelism = 8 }, worker =>
        {
            Random random = new(worker);
            for (int i = 0; i < rounds; i++)
            {
                int bytes = random.Next(1, Limit + 1);
                bool isTaken = budget.TryTake(bytes, overtakes: false);
                if (!isTaken)
                {
                    BudgetRequest request = new(budget, bytes, blocks: true);
                    budget.Post(request);
                    if (request.IsWaiting && random.Next(2) == 0)
                    {
                        budget.TryCancel(request);
                    }

                    // Another thread holds memory, and gives it back: so this ends.
                    Assert.True(request.Handle!.WaitOne(request.IsWaiting ? TimeSpan.FromSeconds(60) : TimeSpan.Zero)
                        || !request.IsWaiting);
                    isTaken = request.IsGranted;
                }

                if (isTaken)
                {
                    Assert.InRange(Interlocked.Add(ref held, bytes), 1, Limit);
                    Interlocked.Increment(ref granted);
                    Thread.Yield();
                    Interlocked.Add(ref held, -bytes);
                    budget.Return(bytes);
                }
                else
                {
                    Interlocked.Increment(ref ended);
                }
            }
        });

        Assert.Equal((0L, false, 8 * rounds), (budget.AdmittedBytes, budget.HasWaiters, granted + ended));
        Assert.True(granted > 0);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static WeakReference[] PostAndGiveUp(MemoryBudget budget, int count)
    {
        return [.. Enumerable.Range(0, count).Select(_ =>
        {
            BudgetRequest request = new(budget, 1, blocks: true);
            budget.Post(request);
            Assert.True(budget.TryCancel(request));
            return new WeakReference(request);
        })];
    }

    private static BudgetRequest Post(MemoryBudget budget, long bytes, bool mayWait = true)
    {
        BudgetRequest request = new(budget, bytes);
        budget.Post(request, mayWait);
        return request;
    }
}
