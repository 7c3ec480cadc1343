using Allocator;

namespace ContractSuite;

/// <summary>What does not fit the budget waits without a thread, is refused, or gives up; and idle memory makes no request wait.</summary>
internal static class BudgetContract
{
    private const int Block = 4 << 20;

    private static readonly TimeSpan s_patience = TimeSpan.FromSeconds(60);

    public static void WaitsAndIsServed()
    {
        using MemoryAllocator allocator = Create();
        IMemoryOwner<byte> first = allocator.Allocate<byte>(3 * Block);
        using IMemoryOwner<byte> second = allocator.Allocate<byte>(Block);
        Checks.Throws<MemoryLimitExceededException>(() => allocator.Allocate<byte>(Block).Dispose());
        Task<IMemoryOwner<byte>> waiting = allocator.AllocateAsync<byte>(2 * Block).AsTask();
        Checks.That(!waiting.IsCompleted, "a request that waits");
        first.Dispose();
        Checks.That(waiting.Wait(s_patience), "a request that is served");
        using IMemoryOwner<byte> served = waiting.Result;
        Pattern.Fill(served.Memory.Span, 7);
        Pattern.Verify(served.Memory.Span, 7);
        Checks.That(
            allocator.GetStatistics() is { BudgetWaits: > 0, CommittedBytes: <= 4 * Block }, "waits counted, and never too much held");
    }

    public static void GivesUp()
    {
        using MemoryAllocator allocator = Create();
        using CancellationTokenSource cancellation = new();
        using (allocator.Allocate<byte>(4 * Block))
        {
            Task<IMemoryOwner<byte>> waiting = allocator.AllocateAsync<byte>(Block, AllocationOptions.None, cancellation.Token).AsTask();
            cancellation.Cancel();
            Checks.Throws<OperationCanceledException>(() => waiting.GetAwaiter().GetResult().Dispose());
        }

        allocator.Allocate<byte>(4 * Block).Dispose();
        Checks.That(allocator.GetStatistics() is { BudgetUsedBytes: 0, OutstandingAllocations: 0 }, "nothing charged");
    }

    public static void Reserves()
    {
        using MemoryAllocator allocator = Create();
        Task<MemoryReservation> reserving = allocator.ReserveAsync(3 * Block).AsTask();
        Checks.That(reserving.Wait(s_patience), "a reservation");
        using (MemoryReservation reservation = reserving.Result)
        {
            Checks.Throws<MemoryLimitExceededException>(() => allocator.Allocate<byte>(2 * Block).Dispose());
            using IMemoryOwner<byte> owner = reservation.Allocate<byte>(2 * Block);
            Pattern.Fill(owner.Memory.Span, 1);
            Pattern.Verify(owner.Memory.Span, 1);
        }

        allocator.Allocate<byte>(4 * Block).Dispose();
    }

    // Every block idle, then an array and a mapping: the idle ones go for them.
    public static void IdleMemoryMakesRoom()
    {
        using MemoryAllocator allocator = Create();
        allocator.Prewarm(4 * Block);
        allocator.AllocateAligned<byte>(3 * Block, 2 << 20).Dispose();
        allocator.Allocate<byte>(500_000).Dispose();
        using IMemoryOwner<byte> last = allocator.Allocate<byte>(4 * Block);
        Checks.That(allocator.GetStatistics().CommittedBytes <= 4 * Block, "never too much held");
    }

    private static MemoryAllocator Create() =>
        MemoryAllocator.Create(new MemoryAllocatorOptions { Name = "budget", MemoryBudgetMegabytes = 16 });
}
