namespace Allocator.Tests.Pooling;

public class KeptBlocksTests
{
    private const int Block = TestSetup.BlockSize;
    private static readonly TimeSpan s_period = TimeSpan.FromMinutes(1);
    private static readonly TimeSpan s_patience = TimeSpan.FromSeconds(30);

    private readonly RegisteredBlocks _device = new();

    [Fact]
    public void KeepBlocks_WhateverTrims_StaysUntilDispose()
    {
        using TestSetup setup = new(maximumBlocks: 8, options: _device.CreateOptions(keepBlocks: true));
        setup.Allocator.Prewarm(long.MaxValue);
        setup.Allocator.ReleaseRetainedResources();
        for (int i = 0; i < 5; i++)
        {
            setup.Clock.Advance(s_period);
        }

        setup.Pressure.IsHigh = true;
        setup.Clock.Advance(s_period);
        Assert.Equal(
            (8L * Block, 0, 0, 0L), (setup.Statistics.RetainedBytes, setup.Source.Purges, _device.Releases, setup.Statistics.Trims));

        setup.Allocator.Dispose();
        Assert.Equal((8, 0, null, 0), (_device.Releases, _device.Count, _device.Error, setup.Source.LiveReservations));
    }

    [Fact]
    public void KeepBlocks_PrewarmedWhole_RegistersNothingLater()
    {
        using TestSetup setup = new(maximumBlocks: 8, options: _device.CreateOptions(keepBlocks: true));
        setup.Allocator.Prewarm(long.MaxValue);
        Assert.Equal(8, _device.Commits);
        for (int i = 0; i < 100; i++)
        {
            using IMemoryOwner<byte> single = setup.Allocator.Allocate<byte>(Block);
            using IMemoryOwner<byte> run = setup.Allocator.Allocate<byte>(3 * Block);
            using MemoryGroup<byte> group = setup.Allocator.AllocateGroup<byte>(4 * Block);
            setup.Clock.Advance(s_period);
        }

        Assert.Equal((8, 0, 0L), (_device.Commits, _device.Releases, setup.Statistics.PoolMisses));
    }

    // Other pools exchange memory then: as many idle blocks lose theirs.
    [Fact]
    public void KeepBlocks_RunNeedsNewMemory_IdleBlocksKeepTheirs()
    {
        using TestSetup setup = new(maximumBlocks: 8, options: _device.CreateOptions(keepBlocks: true));
        IMemoryOwner<byte>[] owners = [.. Enumerable.Range(0, 4).Select(_ => setup.Allocator.Allocate<byte>(Block))];
        owners[0].Dispose();
        owners[2].Dispose();
        using IMemoryOwner<byte> run = setup.Allocator.Allocate<byte>(2 * Block);
        Assert.Equal((6, 0), (_device.Count, setup.Source.Purges));
    }

    [Fact]
    public void KeepBlocks_SystemRefuses_IdleBlocksStay()
    {
        using TestSetup setup = new(maximumBlocks: 4, options: _device.CreateOptions(keepBlocks: true));
        setup.Allocator.Prewarm(long.MaxValue);
        setup.Source.Restart();
        setup.Source.RefuseFrom = 1;
        Assert.Throws<OutOfMemoryException>(() => setup.Allocator.Allocate<byte>(5 * Block));
        Assert.Equal((4, 0), (_device.Count, setup.Source.Purges));
    }

    [Fact]
    public void KeepBlocks_PinnedPastDispose_ComesBackRegistered()
    {
        using TestSetup setup = new(maximumBlocks: 1, options: _device.CreateOptions(keepBlocks: true));
        IMemoryOwner<byte> owner = setup.Allocator.Allocate<byte>(Block);
        nint address = GuardedSetup.AddressOf(owner);
        using (owner.Memory.Pin())
        {
            owner.Dispose();
            setup.Allocator.ReleaseRetainedResources();
            Assert.True(_device.Contains(address));
        }

        using IMemoryOwner<byte> next = setup.Allocator.Allocate<byte>(Block);
        Assert.Equal((address, 1, 0), (GuardedSetup.AddressOf(next), _device.Commits, _device.Releases));
    }

    [Fact]
    public async Task KeepBlocks_IdleBlocksFillTheBudget_OtherRequestsThrowSoon()
    {
        using TestSetup setup = new(maximumBlocks: 4, options: _device.CreateOptions(keepBlocks: true), budget: 4 * Block);
        setup.Allocator.Prewarm(long.MaxValue);

        MemoryLimitExceededException refusal = Assert.Throws<MemoryLimitExceededException>(
            () => setup.Allocator.AllocateAligned<byte>(Block, 2 << 20));
        Assert.Contains("KeepBlocks", refusal.Message);
        Assert.Contains("65,536 bytes are idle blocks", refusal.Message);
        Assert.Throws<MemoryLimitExceededException>(() => setup.Allocator.Allocate<byte>(100));
        Task<IMemoryOwner<byte>> small = setup.Allocator.AllocateAsync<byte>(100).AsTask();
        await Assert.ThrowsAsync<MemoryLimitExceededException>(() => small.WaitAsync(s_patience));
        Assert.Throws<MemoryLimitExceededException>(() => setup.Allocator.TrackExternalMemory(1));

        Assert.InRange(setup.Clock.Delays.Sum(static delay => delay.TotalMilliseconds), 1, 1000);
        Assert.Equal((0L, 0L, 0), (setup.Statistics.BudgetUsedBytes, setup.Statistics.OutstandingAllocations, setup.Source.Purges));
        using MemoryGroup<byte> blocks = setup.Allocator.AllocateGroup<byte>(4 * Block);
    }

    [Fact]
    public async Task KeepBlocks_BudgetLargerThanThePool_RequestsWaitAsUsual()
    {
        using TestSetup setup = new(maximumBlocks: 4, options: _device.CreateOptions(keepBlocks: true), budget: 8 * Block);
        setup.Allocator.Prewarm(long.MaxValue);
        using MemoryGroup<byte> blocks = setup.Allocator.AllocateGroup<byte>(4 * Block);
        IMemoryOwner<byte> beside = setup.Allocator.Allocate<byte>(4 * Block);
        Task<IMemoryOwner<byte>> waiting = setup.Allocator.AllocateAsync<byte>(3 * Block).AsTask();
        Assert.False(waiting.IsCompleted);
        beside.Dispose();
        using IMemoryOwner<byte> served = await waiting.WaitAsync(s_patience);
        Assert.Equal((7L * Block, 4), (setup.Statistics.CommittedBytes, _device.Count));
    }

    [Fact]
    public void KeepBlocks_WithoutHooks_KeepsBlocksToo()
    {
        using TestSetup setup = new(
            maximumBlocks: 4, options: new MemoryAllocatorOptions { KeepBlocks = true, MaximumPoolSizeMegabytes = 4 });
        setup.Allocator.Allocate<byte>(Block).Dispose();
        setup.Allocator.ReleaseRetainedResources();
        Assert.Equal(Block, setup.Statistics.RetainedBytes);
    }
}
