namespace Allocator.Tests.Allocators;

/// <summary>What is made resident before a rent, where a limit counts resident memory. In blocks of 16 KiB.</summary>
public class PopulationTests
{
    private const int Block = TestSetup.BlockSize;
    private const long Megabyte = 1 << 20;
    private const int Page = 4096;

    // A limit leaves some to page tables and the runtime: here all but 100 blocks.
    private static Headroom Limit { get; } = new(108 * Block, 108 * Block, 108 * Block)
    {
        HardBytes = 108 * Block,
    };

    [Fact]
    public void Allocate_PartOfABlock_PopulatesAsFarAsTheRenterReaches()
    {
        using TestSetup setup = Create();
        using IMemoryOwner<byte> owner = setup.Allocator.Allocate<byte>(Page + 1);
        Assert.Equal(2 * Page, setup.Source.PopulatedBytes);
    }

    [Fact]
    public void Allocate_LongerThanAnyRentOfTheBlock_PopulatesTheDifferenceOnce()
    {
        using TestSetup setup = Create();
        setup.Allocator.Allocate<byte>(Page).Dispose();
        setup.Allocator.Allocate<byte>(Block).Dispose();
        Assert.Equal(Block, setup.Source.PopulatedBytes);
        int reads = setup.Left.Reads;
        setup.Allocator.Allocate<byte>(Page).Dispose();
        setup.Allocator.Allocate<byte>(Block).Dispose();
        Assert.Equal((Block, reads), (setup.Source.PopulatedBytes, setup.Left.Reads));
    }

    [Fact]
    public void Allocate_AdjacentBlocks_PopulatesTheRestOfEach()
    {
        using TestSetup setup = Create();
        setup.Allocator.Allocate<byte>(Page).Dispose();
        setup.Allocator.Allocate<byte>(3 * Block + 1, AllocationOptions.Contiguous).Dispose();
        Assert.Equal(3 * Block + Page, setup.Source.PopulatedBytes);
        setup.Allocator.Allocate<byte>(4 * Block, AllocationOptions.Contiguous).Dispose();
        Assert.Equal(4 * Block, setup.Source.PopulatedBytes);
    }

    [Fact]
    public void Allocate_AfterAPurge_PopulatesAgain()
    {
        using TestSetup setup = Create();
        setup.Allocator.Allocate<byte>(Block).Dispose();
        setup.Allocator.ReleaseRetainedResources();
        setup.Allocator.Allocate<byte>(Block).Dispose();
        Assert.Equal(2 * Block, setup.Source.PopulatedBytes);
    }

    [Fact]
    public void AllocateGroup_MoreThanTheLimitLeaves_PopulatesNoPartOfIt()
    {
        using TestSetup setup = Create();
        Assert.Throws<MemoryLimitExceededException>(() => setup.Allocator.AllocateGroup<byte>(101 * Block));
        Assert.Equal(0, setup.Source.PopulatedBytes);
        setup.Allocator.AllocateGroup<byte>(100 * Block).Dispose();
    }

    // As when a page is broken, or the system has none: writing to it would end the process.
    [Theory]
    [InlineData(3)]
    [InlineData(30)]
    public void Allocate_SystemRefusesInTheMiddle_LeavesNothingCounted(int blocks)
    {
        using TestSetup setup = Create();
        setup.Source.Refuses = static kind => kind == "populate";
        setup.Source.RefuseFrom = 2;
        Assert.Throws<OutOfMemoryException>(() => setup.Allocator.AllocateGroup<byte>(blocks * Block));
        Assert.Equal((0, 0), (setup.Statistics.OutstandingAllocations, setup.Statistics.RentedBytes));
        setup.Source.Restart();
        setup.Allocator.ReleaseRetainedResources();
        setup.Allocator.AllocateGroup<byte>(100 * Block).Dispose();
    }

    [Fact]
    public void Allocate_LimitIsFull_SucceedsOnceMemoryIsReturned()
    {
        using TestSetup setup = Create();
        for (int i = 0; i < 3; i++)
        {
            MemoryGroup<byte> held = setup.Allocator.AllocateGroup<byte>(60 * Block);
            Assert.Throws<MemoryLimitExceededException>(() => setup.Allocator.AllocateGroup<byte>(60 * Block));
            held.Dispose();
            setup.Allocator.AllocateGroup<byte>(100 * Block).Dispose();
            setup.Allocator.Allocate<byte>(1000).Dispose();
        }
    }

    // What the figures already contain of it is no longer in flight: another request may have the rest of the limit.
    [Fact]
    public void Allocate_WhileAMappingIsPopulated_CountsNoPageTwice()
    {
        FakeMemorySource source = new();
        FakeHeadroom left = new()
        {
            OnRead = () =>
            {
                const long Limit = 17 * Megabyte;
                long free = Limit - source.PopulatedBytes;
                return new Headroom(Limit, free, free) { HardBytes = Limit };
            },
        };
        using TestSetup setup = new(left: left, source: source);
        int pieces = 0;
        long servedAt = 0;
        setup.Source.Refuses = kind =>
        {
            if (kind == "populate" && ++pieces == 3)
            {
                servedAt = setup.Source.PopulatedBytes;
                setup.Clock.Advance(TimeSpan.FromSeconds(1));
                setup.Allocator.Allocate<byte>(3 << 20).Dispose();
            }

            return false;
        };
        setup.Allocator.Allocate<byte>(12 << 20).Dispose();
        Assert.Equal((8 * Megabyte, 15 * Megabyte), (servedAt, setup.Source.PopulatedBytes));
    }

    [Theory]
    [InlineData(null, true, Page)]
    [InlineData(null, false, 0)]
    [InlineData(true, false, Page)]
    [InlineData(false, true, 0)]
    public void PopulateMemory_WithALimitOrNot_Decides(bool? option, bool isLimited, long expected)
    {
        using TestSetup setup = Create(option, isLimited);
        setup.Allocator.Allocate<byte>(Page).Dispose();
        Assert.Equal(expected, setup.Source.PopulatedBytes);
    }

    [Fact]
    public void PopulateMemory_LimitNotHonored_PopulatesNothing()
    {
        using TestSetup setup = new(
            left: new FakeHeadroom { Now = Limit }, options: new MemoryAllocatorOptions { HonorMemoryLimit = false });
        setup.Allocator.Allocate<byte>(101 * Block).Dispose();
        Assert.Equal(0, setup.Source.PopulatedBytes);
    }

    [Fact]
    public void Prewarm_UnderALimit_CountsAndPopulatesOnce()
    {
        using TestSetup setup = Create();
        setup.Allocator.Prewarm(4 * Block);
        Assert.Equal((4 * Block, 4L * Block), (setup.Source.PopulatedBytes, setup.Statistics.RetainedBytes));
        setup.Allocator.AllocateGroup<byte>(4 * Block).Dispose();
        Assert.Equal(4 * Block, setup.Source.PopulatedBytes);
    }

    private static TestSetup Create(bool? populates = null, bool isLimited = true)
    {
        FakeHeadroom left = new();
        left.Now = isLimited ? Limit : left.Now;
        return new TestSetup(left: left, options: new MemoryAllocatorOptions { PopulateMemory = populates });
    }
}
