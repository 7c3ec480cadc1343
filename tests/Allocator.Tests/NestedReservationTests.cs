using Allocator.Budgeting;

namespace Allocator.Tests;

/// <summary>Jobs in jobs whose ends come in any order. In blocks of 16 KiB.</summary>
public class NestedReservationTests
{
    private const int Block = TestSetup.BlockSize;

    private static readonly TimeSpan s_patience = TimeSpan.FromSeconds(30);

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task Dispose_OuterBeforeInner_InnerGoesOnAsPartOfTheAllocator(bool byUse)
    {
        using TestSetup setup = new(maximumBlocks: 64, budget: 32 * Block);
        MemoryReservation outer = await setup.Allocator.ReserveAsync(16 * Block);
        MemoryReservation inner = await ReserveAsync(setup, outer, 8 * Block, byUse);
        outer.Dispose();
        Assert.Equal(8 * Block, setup.Statistics.BudgetUsedBytes);
        IDisposable owner = inner.AllocateGroup<byte>(10 * Block);
        Assert.Equal((10L * Block, 0L), (setup.Statistics.BudgetUsedBytes, inner.RemainingBytes));
        Assert.True(inner.TryGrow(2 * Block));
        owner.Dispose();
        Assert.Equal(10 * Block, setup.Statistics.BudgetUsedBytes);
        inner.Dispose();
        Assert.Equal(0, setup.Statistics.BudgetUsedBytes);
        Assert.Throws<ObjectDisposedException>(() => inner.Allocate<byte>(Block));
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task Dispose_MiddleBeforeInner_InnerDrawsOnTheOuter(bool byUse)
    {
        using TestSetup setup = new(maximumBlocks: 64, budget: 32 * Block);
        MemoryReservation outer = await setup.Allocator.ReserveAsync(16 * Block);
        MemoryReservation middle = await ReserveAsync(setup, outer, 8 * Block, byUse);
        MemoryReservation inner = await ReserveAsync(setup, middle, 4 * Block, byUse);
        middle.Dispose();
        Assert.Equal(12 * Block, outer.RemainingBytes);
        using (inner.AllocateGroup<byte>(6 * Block))
        {
            Assert.Equal((10L * Block, 16L * Block), (outer.RemainingBytes, setup.Statistics.BudgetUsedBytes));
        }

        inner.Dispose();
        Assert.Equal((16L * Block, 16L * Block), (outer.RemainingBytes, setup.Statistics.BudgetUsedBytes));
        outer.Dispose();
        Assert.Equal(0, setup.Statistics.BudgetUsedBytes);
    }

    // The inner one has begun; a request to begin another one is the outer's, and ends with it.
    [Fact]
    public async Task Dispose_OuterWhileInnerWaits_RequestOfTheInnerGoesOn()
    {
        using TestSetup setup = new(maximumBlocks: 64, budget: 16 * Block);
        MemoryReservation other = await setup.Allocator.ReserveAsync(8 * Block);
        MemoryReservation outer = await setup.Allocator.ReserveAsync(8 * Block);
        MemoryReservation inner = await outer.ReserveAsync(4 * Block);
        Task<IMemoryOwner<byte>> waiting = inner.AllocateAsync<byte>(10 * Block).AsTask();
        Task growing = inner.GrowAsync(5 * Block).AsTask();
        Task<MemoryReservation> ofOuter = outer.ReserveAsync(12 * Block).AsTask();
        outer.Dispose();
        await Assert.ThrowsAsync<ObjectDisposedException>(() => ofOuter.WaitAsync(s_patience));
        Assert.False(waiting.IsCompleted || growing.IsCompleted);
        other.Dispose();
        using (await waiting.WaitAsync(s_patience))
        {
            await growing.WaitAsync(s_patience);
            Assert.Equal((9L * Block, 15L * Block), (inner.ReservedBytes, setup.Statistics.BudgetUsedBytes));
        }

        inner.Dispose();
        Assert.Equal(0, setup.Statistics.BudgetUsedBytes);
    }

    [Fact]
    public async Task Dispose_AllocatorBeforeAll_InnerIsDisposedToo()
    {
        TestSetup setup = new(maximumBlocks: 64, budget: 16 * Block);
        MemoryReservation outer = await setup.Allocator.ReserveAsync(8 * Block);
        MemoryReservation inner = await outer.ReserveAsync(4 * Block);
        outer.Dispose();
        setup.Dispose();
        Assert.Throws<ObjectDisposedException>(() => inner.Allocate<byte>(Block));
        inner.Dispose();
    }

    // A tree of jobs, some begun in a job's flow and some from the job itself, which end and return memory in any order.
    [Fact]
    public void Dispose_InAnyOrder_NothingStaysCharged()
    {
        for (int seed = 0; seed < 300; seed++)
        {
            Random random = new(seed);
            MemoryBudget budget = new(1000);
            List<ReservationAccount> open = [];
            List<(ReservationAccount Account, long Bytes)> held = [];
            for (int step = 0; step < 40; step++)
            {
                ReservationAccount? one = open.Count == 0 ? null : open[random.Next(open.Count)];
                switch (random.Next(5))
                {
                    case 0 or 1:
                        BudgetAccount parent = one is null || random.Next(4) == 0 ? budget
                            : random.Next(2) == 0 ? one
                            : new AmbientAccount(one, budget.Jobs);
                        ReservationAccount begun = new(parent, new RunningJob(random.Next(1, 60)));
                        if (begun.TryBegin(overtakes: true))
                        {
                            open.Add(begun);
                        }

                        (parent as AmbientAccount)?.Leave();
                        break;
                    case 2 when one is not null:
                        int bytes = random.Next(1, 60);
                        if (one.TryTake(bytes, overtakes: true))
                        {
                            held.Add((one, bytes));
                        }

                        break;
                    case 3 when held.Count > 0:
                        int taken = random.Next(held.Count);
                        held[taken].Account.Return(held[taken].Bytes);
                        held.RemoveAt(taken);
                        break;
                    case 4 when one is not null:
                        one.Close();
                        open.Remove(one);
                        break;
                }

                Assert.InRange(budget.AdmittedBytes, held.Sum(static part => part.Bytes), 1000);
            }

            foreach (ReservationAccount account in open.OrderBy(_ => random.Next()))
            {
                account.Close();
            }

            Assert.Equal(held.Sum(static part => part.Bytes), budget.AdmittedBytes);
            held.ForEach(static part => part.Account.Return(part.Bytes));
            long reserved;
            using (budget.Lock.Enter())
            {
                reserved = budget.ReservedBytes;
            }

            Assert.Equal((0L, 0L), (budget.AdmittedBytes, reserved));
        }
    }

    private static async Task<MemoryReservation> ReserveAsync(TestSetup setup, MemoryReservation outer, long bytes, bool byUse)
    {
        if (!byUse)
        {
            return await outer.ReserveAsync(bytes);
        }

        using (outer.Use())
        {
            return await setup.Allocator.ReserveAsync(bytes);
        }
    }
}
