namespace Allocator.Tests.Pooling;

/// <summary>
/// Blocks that have memory although <c>BlockCommitted</c> threw, because the system refuses to take it: they count, and no request gets
/// them before it has succeeded.
/// </summary>
public class UnregisteredBlocksTests
{
    private const int Block = TestSetup.BlockSize;

    private readonly RegisteredBlocks _device = new();

    [Theory]
    [InlineData(1)]
    [InlineData(3)]
    public void Committed_ThrowsAndTheSystemKeepsTheMemory_CountsIt(int blocks)
    {
        using TestSetup setup = CreateWithUnregistered(blocks);
        Assert.Equal((1L * Block, 1L * Block, 0), (setup.Statistics.CommittedBytes, setup.Statistics.RetainedBytes, _device.Count));
        Assert.Equal(setup.Statistics.CommittedBytes, setup.Source.LiveBytes);
        Assert.Equal((0L, 0L, 0L), (setup.Statistics.RentedBytes, setup.Statistics.BudgetUsedBytes, setup.Statistics.Rents));

        // The ceiling counts it once, now and when it is used.
        setup.Source.PurgesAllowed = int.MaxValue;
        using IMemoryOwner<byte> all = setup.Allocator.Allocate<byte>(8 * Block);
        Assert.Equal((8, 8L * Block, null), (_device.Count, setup.Statistics.CommittedBytes, _device.Error));
    }

    [Theory]
    [InlineData(1)]
    [InlineData(3)]
    public void Committed_ThrowsAndTheSystemKeepsTheMemory_IsCalledBeforeItsNextUse(int blocks)
    {
        using TestSetup setup = CreateWithUnregistered(blocks);
        using (IMemoryOwner<byte> owner = setup.Allocator.Allocate<byte>(Block))
        {
            Assert.True(_device.Contains(GuardedSetup.AddressOf(owner)));
        }

        int commits = _device.Commits;
        setup.Allocator.Allocate<byte>(Block).Dispose();
        Assert.Equal((1, commits, 1L * Block), (_device.Count, _device.Commits, setup.Statistics.CommittedBytes));
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void Committed_ThrowsAgain_TheRequestFailsAndTheBlockIsNotLost(bool isGroup)
    {
        using TestSetup setup = CreateWithUnregistered(blocks: 1);
        _device.OnCommitted = static _ => throw new InvalidOperationException("still refused");
        Func<IDisposable> request = isGroup
            ? () => setup.Allocator.AllocateGroup<byte>(8 * Block)
            : () => setup.Allocator.Allocate<byte>(Block);

        Assert.Equal("still refused", Assert.Throws<InvalidOperationException>(request).Message);

        Assert.Equal((1L * Block, 0L), (setup.Statistics.CommittedBytes, setup.Statistics.BudgetUsedBytes));
        _device.OnCommitted = null;
        using MemoryGroup<byte> all = setup.Allocator.AllocateGroup<byte>(8 * Block);
        Assert.Equal((8, null), (_device.Count, _device.Error));
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void Releasing_BlockThatTheDeviceDoesNotKnow_IsNotCalled(bool disposes)
    {
        using TestSetup setup = CreateWithUnregistered(blocks: 1);
        setup.Source.PurgesAllowed = disposes ? setup.Source.Purges : int.MaxValue;
        Action release = disposes ? setup.Allocator.Dispose : setup.Allocator.ReleaseRetainedResources;
        release();
        Assert.Equal((0L, 0L, 0, null), (setup.Statistics.CommittedBytes, setup.Source.LiveBytes, _device.Releases, _device.Error));
    }

    [Theory]
    [InlineData(1)]
    [InlineData(3)]
    public void TakenBack_CommittedThrows_IsCalledAgainBeforeItsNextUse(int blocks)
    {
        using TestSetup setup = new(maximumBlocks: 8, options: _device.CreateOptions());
        setup.Allocator.Prewarm(blocks * Block);
        setup.Source.PurgesAllowed = setup.Source.Purges;
        _device.OnCommitted = static _ => throw new InvalidOperationException("the device is gone");
        Assert.Equal("the device is gone", Assert.Throws<InvalidOperationException>(setup.Allocator.ReleaseRetainedResources).Message);
        Assert.Equal((0, (long)blocks * Block), (_device.Count, setup.Statistics.RetainedBytes));
        _device.OnCommitted = null;

        IMemoryOwner<byte>[] owners = [.. Enumerable.Range(0, blocks).Select(_ => setup.Allocator.Allocate<byte>(Block))];

        Assert.All(owners, owner => Assert.True(_device.Contains(GuardedSetup.AddressOf(owner))));
        Array.ForEach(owners, static owner => owner.Dispose());
        setup.Source.PurgesAllowed = int.MaxValue;
        setup.Allocator.ReleaseRetainedResources();
        Assert.Equal((0, 0L, null), (_device.Count, setup.Statistics.CommittedBytes, _device.Error));
    }

    // The first block has memory, and the device does not know it.
    private TestSetup CreateWithUnregistered(int blocks)
    {
        TestSetup setup = new(maximumBlocks: 8, options: _device.CreateOptions(), budget: 8 * Block);
        setup.Source.PurgesAllowed = 0;
        _device.OnCommitted = static _ => throw new InvalidOperationException("the device refuses");
        Assert.Throws<InvalidOperationException>(() => setup.Allocator.Allocate<byte>(blocks * Block));
        _device.OnCommitted = null;
        return setup;
    }
}
