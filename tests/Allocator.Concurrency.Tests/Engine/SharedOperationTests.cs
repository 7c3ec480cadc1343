using Allocator.Concurrency.Interleaving.Atomics;
using Allocator.Concurrency.Interleaving.Scheduling;

namespace Allocator.Concurrency.Engine;

/// <summary>
/// How many interlocked operations a warm rent and its return take, on the library's own sources: each costs about 5 ns, and more if
/// other threads use the same word.
/// </summary>
public sealed class SharedOperationTests
{
    private const int OfABlock = 4 << 20;

    [Theory]
    [InlineData(OfABlock)]
    [InlineData(4 * OfABlock)]
    public void Rent_WarmBlocksUnderABudget_TakesOneSharedOperationEachWay(int length)
    {
        using MemoryAllocator plain = MemoryAllocator.Create();
        using MemoryAllocator budgeted = MemoryAllocator.Create(new MemoryAllocatorOptions { MemoryBudgetMegabytes = 256 });
        (int rent, int end) = CountOwner(plain, length);
        (int budgetedRent, int budgetedEnd) = CountOwner(budgeted, length);
        Assert.Equal((1, 1), (budgetedRent - rent, budgetedEnd - end));
        Assert.InRange(rent, 1, 1);
        Assert.InRange(end, 1, 2);
    }

    [Fact]
    public void Rent_WarmArrayUnderABudget_TakesTheChargeAndOneLockEachWay()
    {
        using MemoryAllocator budgeted = MemoryAllocator.Create(new MemoryAllocatorOptions { MemoryBudgetMegabytes = 256 });
        (int rent, int end) = CountOwner(budgeted, 65_536);

        // The charge and the lock; the end of the owner's rent, the lock, and the charge.
        Assert.Equal((2, 3), (rent, end));
    }

    [Fact]
    public void Rent_WarmBlockOfAReservation_TakesOneOperationOnItsWordEachWay()
    {
        using MemoryAllocator budgeted = MemoryAllocator.Create(new MemoryAllocatorOptions { MemoryBudgetMegabytes = 256 });
        Assert.True(budgeted.TryReserve(4 * OfABlock, out MemoryReservation? reservation));
        using (reservation)
        {
            Assert.Equal((2, 2), CountOwner(reservation, OfABlock));
        }
    }

    private static (int Rent, int End) CountOwner(MemoryAllocator allocator, int length)
    {
        for (int i = 0; i < 3; i++)
        {
            allocator.Allocate<byte>(length).Dispose();
        }

        IMemoryOwner<byte>? owner = null;
        IReadOnlyList<StepSite> rent = Gate.UpdatesOf(() => owner = allocator.Allocate<byte>(length));
        IReadOnlyList<StepSite> end = Gate.UpdatesOf(() => owner!.Dispose());
        return (rent.Count, end.Count);
    }
}
