namespace Allocator.Tests;

/// <summary>Whether it is worth trying again later, and how much was free: of every way to be refused. In blocks of 16 KiB.</summary>
public class MemoryLimitExceededExceptionTests
{
    private const int Block = TestSetup.BlockSize;

    [Fact]
    public void Constructor_Public_IsForTheLimitOfOneAllocation()
    {
        MemoryLimitExceededException failure = new(100, 60);
        Assert.Equal((100L, 60L, 60L, false), (failure.RequestedBytes, failure.LimitBytes, failure.AvailableBytes, failure.IsTransient));
    }

    [Fact]
    public void Allocate_AboveTheLimitOfOneAllocation_NeverFits()
    {
        using TestSetup setup = new(options: new MemoryAllocatorOptions { AllocationLimitMegabytes = 1 }, budget: 4 << 20);
        using IMemoryOwner<byte> held = setup.Allocator.Allocate<byte>(1 << 20);
        Expect(() => setup.Allocator.Allocate<byte>((1 << 20) + 1), isTransient: false, availableBytes: 1 << 20);
    }

    [Fact]
    public async Task Allocate_BeyondAReservation_MayFitLaterIfBothFitTheBudget()
    {
        using TestSetup setup = new(budget: 8 * Block);
        using MemoryReservation reservation = await setup.Allocator.ReserveAsync(5 * Block);
        using IMemoryOwner<byte> all = reservation.Allocate<byte>(5 * Block);
        Expect(
            () => reservation.AllocateAsync<byte>(4 * Block).AsTask().GetAwaiter().GetResult(),
            isTransient: false,
            availableBytes: 3 * Block);
        using IMemoryOwner<byte> others = setup.Allocator.Allocate<byte>(2 * Block);
        Expect(() => reservation.Allocate<byte>(3 * Block), isTransient: true, availableBytes: Block);
        Expect(() => reservation.Allocate<byte>(4 * Block), isTransient: false, availableBytes: Block);
    }

    [Theory]
    [InlineData(2, true)]
    [InlineData(3, false)]
    public void Allocate_WithKeptBlocks_MayFitLaterIfTheyLeaveRoom(int keptBlocks, bool isTransient)
    {
        MemoryAllocatorOptions options = new() { KeepBlocks = true, MaximumPoolSizeMegabytes = 4 };
        using TestSetup setup = new(maximumBlocks: keptBlocks, options, budget: 12 * Block);
        setup.Allocator.Prewarm(keptBlocks * Block);
        using IMemoryOwner<byte> pinned = setup.Allocator.AllocateAligned<byte>(200, 64);
        Expect(() => setup.Allocator.Allocate<byte>(10 * Block, AllocationOptions.Contiguous), isTransient, availableBytes: 0);
    }

    private static void Expect(Func<IDisposable> allocate, bool isTransient, long availableBytes)
    {
        MemoryLimitExceededException failure = Assert.Throws<MemoryLimitExceededException>(() => allocate().Dispose());
        Assert.Equal((isTransient, availableBytes), (failure.IsTransient, failure.AvailableBytes));
    }
}
