namespace Allocator.Tests;

public class MemoryAllocatorTests
{
    [StructLayout(LayoutKind.Sequential, Size = 16)]
    private struct Pixel16
    {
    }

    [StructLayout(LayoutKind.Sequential, Size = 512)]
    private struct Pixel512
    {
    }

    private struct WithReference
    {
        public string? Text { get; set; }
    }

    [Theory]
    [InlineData(0)]
    [InlineData(1)]
    [InlineData(1024 * 1024)]
    [InlineData(1024 * 1024 + 1)]
    [InlineData(4 * 1024 * 1024)]
    [InlineData(4 * 1024 * 1024 + 1)]
    [InlineData(33 * 1024 * 1024)]
    public void Allocate_AnyLength_HasThatLengthAndKeepsItsContents(int length)
    {
        using MemoryAllocator allocator = MemoryAllocator.Create();
        using IMemoryOwner<byte> owner = allocator.Allocate<byte>(length);

        Assert.Equal(length, owner.Memory.Length);
        owner.Memory.Span.Fill(0xA5);
        Assert.Equal(-1, owner.Memory.Span.IndexOfAnyExcept((byte)0xA5));
    }

    // The tiers, at their boundaries. Bytes of capacity say which one served: arrays are powers of two, blocks 4 MiB, mappings whole
    // pages.
    [Theory]
    [InlineData(1024 * 1024, 1024 * 1024, 0)]
    [InlineData(1024 * 1024 + 1, 4 * 1024 * 1024, 4 * 1024 * 1024)]
    [InlineData(4 * 1024 * 1024, 4 * 1024 * 1024, 4 * 1024 * 1024)]
    [InlineData(4 * 1024 * 1024 + 1, 8 * 1024 * 1024, 8 * 1024 * 1024)]
    [InlineData(16 * 1024 * 1024, 16 * 1024 * 1024, 16 * 1024 * 1024)]
    [InlineData(16 * 1024 * 1024 + 1, 16 * 1024 * 1024 + 4096, 0)]
    public void Allocate_AtTierBoundaries_IsServedByTheTier(int length, long rentedBytes, long retainedAfterwards)
    {
        using MemoryAllocator allocator = MemoryAllocator.Create(new MemoryAllocatorOptions { MaximumPoolSizeMegabytes = 16 });
        using (allocator.Allocate<byte>(length))
        {
            MemoryAllocatorStatistics rented = allocator.GetStatistics();
            Assert.Equal((rentedBytes, 0L, 1L), (rented.RentedBytes, rented.RetainedBytes, rented.OutstandingAllocations));
            if (retainedAfterwards > 0)
            {
                Assert.Equal((rentedBytes, rentedBytes), (rented.CommittedBytes, rented.PeakCommittedBytes));
            }
        }

        Assert.Equal(0, allocator.GetStatistics().RentedBytes);
        Assert.Equal(retainedAfterwards, allocator.GetStatistics().RetainedBytes);
        Assert.Equal(retainedAfterwards, allocator.GetStatistics().CommittedBytes);
        allocator.ReleaseRetainedResources();
        Assert.Equal(retainedAfterwards, allocator.GetStatistics().TrimmedBytes);
    }

    [Theory]
    [InlineData(-1)]
    [InlineData(int.MinValue)]
    public void Allocate_NegativeLength_ThrowsNamingIt(int length)
    {
        using MemoryAllocator allocator = MemoryAllocator.Create();
        Assert.Contains(
            length.ToString(), Assert.Throws<ArgumentOutOfRangeException>("length", () => allocator.Allocate<byte>(length)).Message);
        Assert.Throws<ArgumentOutOfRangeException>("length", () => allocator.AllocateAligned<byte>(length, 64));
        Assert.Throws<ArgumentOutOfRangeException>("length", () => { allocator.Rent<byte>(length).Dispose(); });
        Assert.Throws<ArgumentOutOfRangeException>("totalLength", () => allocator.AllocateGroup<byte>(length));
    }

    [Fact]
    public void Allocate_TypeWithReferences_ThrowsBeforeAnythingIsRented()
    {
        using MemoryAllocator allocator = MemoryAllocator.Create();
        Assert.Contains(nameof(WithReference), Assert.Throws<ArgumentException>(() => allocator.Allocate<WithReference>(10)).Message);
        Assert.Throws<ArgumentException>(() => allocator.AllocateGroup<WithReference>(10));
        Assert.Throws<ArgumentException>(() => { allocator.Rent<WithReference>(10).Dispose(); });
        Assert.Equal(0, allocator.GetStatistics().Rents);
    }

    [Fact]
    public void Allocate_LengthInBytesOverflows_ThrowsLimitWithTheTrueSize()
    {
        using MemoryAllocator allocator = MemoryAllocator.Create();
        MemoryLimitExceededException e = Assert.Throws<MemoryLimitExceededException>(() => allocator.Allocate<Pixel512>(int.MaxValue));
        Assert.Equal(int.MaxValue * 512L, e.RequestedBytes);
        Assert.Equal(4096L * 1024 * 1024, e.LimitBytes);
        Assert.Contains("1,099,511,627,264", e.Message);
        Assert.Contains("4,294,967,296", e.Message);
    }

    [Fact]
    public void AllocatePixels_ProductThatWrapsToZero_ThrowsLimit()
    {
        using MemoryAllocator allocator = MemoryAllocator.Create();

        // 2^30 x 2^30 x 16 bytes is 2^64: unchecked, it wraps to 0 and passes any limit.
        MemoryLimitExceededException e = Assert.Throws<MemoryLimitExceededException>(
            () => allocator.AllocatePixels<Pixel16>(1 << 30, 1 << 30));
        Assert.Equal(long.MaxValue, e.RequestedBytes);
        Assert.Throws<MemoryLimitExceededException>(() => allocator.AllocatePixels<byte>(int.MaxValue, int.MaxValue));
        Assert.Throws<MemoryLimitExceededException>(() => allocator.AllocatePixels<short>(int.MaxValue, int.MaxValue));
        Assert.Throws<MemoryLimitExceededException>(() => allocator.AllocatePixels<int>(int.MaxValue, int.MaxValue));
        Assert.Throws<MemoryLimitExceededException>(() => allocator.AllocatePixels<double>(int.MaxValue, int.MaxValue));
        Assert.Throws<MemoryLimitExceededException>(() => allocator.AllocateGroup<Pixel512>(long.MaxValue));
        Assert.Equal(default, allocator.GetStatistics());
    }

    [Theory]
    [InlineData(0, 1)]
    [InlineData(1, 0)]
    [InlineData(-1, 1)]
    [InlineData(1, int.MinValue)]
    public void AllocatePixels_SizeBelowOne_Throws(int width, int height)
    {
        using MemoryAllocator allocator = MemoryAllocator.Create();
        Assert.Throws<ArgumentOutOfRangeException>(width < 1 ? "width" : "height", () => allocator.AllocatePixels<int>(width, height));
    }

    [Fact]
    public void Allocate_AtTheLimit_SucceedsAndOneByteMoreThrows()
    {
        using MemoryAllocator allocator = MemoryAllocator.Create(new MemoryAllocatorOptions { AllocationLimitMegabytes = 2 });
        Assert.Equal(2 << 20, allocator.AllocationLimitBytes);
        allocator.Allocate<byte>(2 * 1024 * 1024).Dispose();
        Assert.Throws<MemoryLimitExceededException>(() => allocator.Allocate<byte>(2 * 1024 * 1024 + 1));

        // The limit is of one allocation. Many that are large together pass, also while a larger one is refused.
        using IMemoryOwner<byte> first = allocator.Allocate<byte>(2 * 1024 * 1024);
        Assert.Throws<MemoryLimitExceededException>(() => allocator.AllocateGroup<byte>(1L << 40));
        using IMemoryOwner<byte> second = allocator.Allocate<byte>(2 * 1024 * 1024);
    }

    [Theory]
    [InlineData(0)]
    [InlineData(-64)]
    [InlineData(3)]
    [InlineData(48)]
    [InlineData(4 * 1024 * 1024)]
    public void AllocateAligned_InvalidAlignment_Throws(int alignment)
    {
        using MemoryAllocator allocator = MemoryAllocator.Create();
        Assert.Throws<ArgumentOutOfRangeException>("alignmentInBytes", () => allocator.AllocateAligned<byte>(10, alignment));
        Assert.Throws<ArgumentOutOfRangeException>(
            "rowAlignmentInBytes", () => allocator.AllocatePixels<byte>(10, 10, rowAlignmentInBytes: alignment));
    }

    [Fact]
    public void AllocateGroup_ElementAlignmentOutOfRange_Throws()
    {
        using MemoryAllocator allocator = MemoryAllocator.Create();
        Assert.Throws<ArgumentOutOfRangeException>("rowLength", () => allocator.AllocateGroup<int>(10, 0));
        Assert.Throws<ArgumentOutOfRangeException>("rowLength", () => allocator.AllocateGroup<int>(10, 8 * 1024 * 1024 + 1));
        allocator.AllocateGroup<int>(10, 8 * 1024 * 1024).Dispose();
    }

    [Theory]
    [InlineData(NativeMemoryKind.Virtual)]
    [InlineData(NativeMemoryKind.Heap)]
    [InlineData(NativeMemoryKind.HGlobal)]
    [InlineData(NativeMemoryKind.CoTaskMem)]
    public unsafe void AllocateAligned_EveryPowerOfTwoAndKind_StartsOnTheBoundary(NativeMemoryKind kind)
    {
        using MemoryAllocator allocator = MemoryAllocator.Create(new MemoryAllocatorOptions { NativeMemory = kind });
        foreach (int length in (int[])[1, 1000, 1024 * 1024, 3 * 1024 * 1024, 9 * 1024 * 1024])
        {
            for (int alignment = 1; alignment <= 2 * 1024 * 1024; alignment *= 2)
            {
                using IMemoryOwner<byte> owner = allocator.AllocateAligned<byte>(length, alignment, AllocationOptions.Clean);
                using MemoryHandle handle = owner.Memory.Pin();
                Assert.Equal(0, (nint)handle.Pointer % alignment);
                Assert.Equal(-1, owner.Memory.Span.IndexOfAnyExcept((byte)0));
                owner.Memory.Span.Fill(1);
            }
        }

        Assert.Equal(0, allocator.GetStatistics().OutstandingAllocations);
    }

    [Fact]
    public void AllocateAligned_NoElements_IsEmptyForEveryAlignment()
    {
        using TestSetup setup = new();
        for (int alignment = 1; alignment <= 2 * 1024 * 1024; alignment *= 2)
        {
            using IMemoryOwner<int> owner = setup.Allocator.AllocateAligned<int>(0, alignment);
            Assert.True(owner.Memory.IsEmpty);
        }

        Assert.Equal(0, setup.Statistics.AllocationRetries);
    }

    [Fact]
    public unsafe void Allocate_Block_StartsOnTwoMebibytesAndEveryMappingOn64Bytes()
    {
        using MemoryAllocator allocator = MemoryAllocator.Create(new MemoryAllocatorOptions { MaximumPoolSizeMegabytes = 8 });
        using IMemoryOwner<byte> block = allocator.Allocate<byte>(2_000_000);
        using IMemoryOwner<byte> mapping = allocator.Allocate<byte>(20_000_000);
        using MemoryHandle blockPin = block.Memory.Pin();
        using MemoryHandle mappingPin = mapping.Memory.Pin();
        Assert.Equal(0, (nint)blockPin.Pointer % (2 * 1024 * 1024));
        Assert.Equal(0, (nint)mappingPin.Pointer % 64);
    }

    [Fact]
    public void Clean_InEveryTier_IsZeroAlsoAfterAnotherRenter()
    {
        using TestSetup setup = new(maximumBlocks: 8);
        foreach (
            int length in (int[])[1, TestSetup.ArrayThreshold, TestSetup.BlockSize, 3 * TestSetup.BlockSize, 40 * TestSetup.BlockSize])
        {
            for (int round = 0; round < 3; round++)
            {
                using (IMemoryOwner<byte> owner = setup.Allocator.Allocate<byte>(length, AllocationOptions.Clean))
                {
                    Assert.Equal(-1, owner.Memory.Span.IndexOfAnyExcept((byte)0));
                    owner.Memory.Span.Fill(0xFF);
                }

                using (MemoryGroup<byte> group = setup.Allocator.AllocateGroup<byte>(length, 1, AllocationOptions.Clean))
                {
                    foreach (Memory<byte> member in group)
                    {
                        Assert.Equal(-1, member.Span.IndexOfAnyExcept((byte)0));
                    }

                    group.Fill(0xFF);
                }
            }
        }
    }

    [Theory]
    [InlineData(TestSetup.BlockSize)]
    [InlineData(2 * TestSetup.BlockSize)]
    [InlineData(100 * TestSetup.BlockSize)]
    public void Clean_MemoryThatTheSystemHasJustZeroed_IsNotClearedAgain(int length)
    {
        using TestSetup setup = new(maximumBlocks: 4);

        // The source lies: it says zero and gives 0xCC. An allocator that trusts it leaves the bytes alone.
        setup.Source.ClaimsZeroed = true;
        setup.Source.FillFresh = 0xCC;
        using IMemoryOwner<byte> owner = setup.Allocator.Allocate<byte>(length, AllocationOptions.Clean);
        Assert.Equal(-1, owner.Memory.Span.IndexOfAnyExcept((byte)0xCC));
    }

    [Fact]
    public void Clean_SourceThatDoesNotZero_IsCleared()
    {
        using TestSetup setup = new(maximumBlocks: 4);
        setup.Source.ClaimsZeroed = false;
        setup.Source.FillFresh = 0xCC;
        foreach (int length in (int[])[TestSetup.BlockSize, 2 * TestSetup.BlockSize, 100 * TestSetup.BlockSize])
        {
            using IMemoryOwner<byte> owner = setup.Allocator.Allocate<byte>(length, AllocationOptions.Clean);
            Assert.Equal(-1, owner.Memory.Span.IndexOfAnyExcept((byte)0));
        }
    }

    [Fact]
    public void ClearOnReturn_NextRenterWithoutClean_SeesZero()
    {
        using TestSetup setup = new(maximumBlocks: 8, new MemoryAllocatorOptions { ClearOnReturn = true });
        foreach (int length in (int[])[500, TestSetup.BlockSize - 100, 3 * TestSetup.BlockSize])
        {
            using (IMemoryOwner<byte> owner = setup.Allocator.Allocate<byte>(length))
            {
                owner.Memory.Span.Fill(0xEE);
            }

            using (IMemoryOwner<byte> next = setup.Allocator.Allocate<byte>(length))
            {
                Assert.Equal(-1, next.Memory.Span.IndexOf((byte)0xEE));
            }

            using (MemoryGroup<byte> group = setup.Allocator.AllocateGroup<byte>(length))
            {
                group.Fill(0xEE);
            }
        }

        for (int i = 0; i < 8; i++)
        {
            using IMemoryOwner<byte> block = setup.Allocator.Allocate<byte>(TestSetup.BlockSize);
            Assert.Equal(-1, block.Memory.Span.IndexOf((byte)0xEE));
        }
    }

    [Fact]
    public void ClearOnReturn_MemoryThatGoesToTheSystem_IsNotTouched()
    {
        using TestSetup setup = new(maximumBlocks: 0, new MemoryAllocatorOptions { ClearOnReturn = true });
        byte seen = 0;
        IMemoryOwner<byte> owner = setup.Allocator.Allocate<byte>(10 * TestSetup.BlockSize);
        owner.Memory.Span.Fill(0xEE);
        Memory<byte> memory = owner.Memory;
        using MemoryHandle pin = memory.Pin();
        setup.Source.OnFree = () => seen = FirstByte(pin);
        owner.Dispose();
        pin.Dispose();
        Assert.Equal(0xEE, seen);

        static unsafe byte FirstByte(MemoryHandle handle) => *(byte*)handle.Pointer;
    }

    [Fact]
    public void Dispose_MemoryOutstanding_FreesIdleNowAndTheRestOnReturn()
    {
        TestSetup setup = new();
        IMemoryOwner<byte> owner = setup.Allocator.Allocate<byte>(TestSetup.BlockSize);
        MemoryGroup<byte> group = setup.Allocator.AllocateGroup<byte>(30 * TestSetup.BlockSize);
        setup.Allocator.Allocate<byte>(TestSetup.BlockSize).Dispose();
        owner.Memory.Span.Fill(7);

        setup.Allocator.Dispose();
        setup.Allocator.Dispose();

        Assert.Equal(0, setup.Statistics.RetainedBytes);
        Assert.Equal(-1, owner.Memory.Span.IndexOfAnyExcept((byte)7));
        Assert.Throws<ObjectDisposedException>(() => setup.Allocator.Allocate<byte>(1));
        Assert.Throws<ObjectDisposedException>(() => setup.Allocator.AllocateGroup<byte>(1));
        Assert.Throws<ObjectDisposedException>(() => setup.Allocator.AllocatePixels<byte>(1, 1));
        Assert.Throws<ObjectDisposedException>(() => { setup.Allocator.Rent<byte>(1).Dispose(); });
        Assert.Throws<ObjectDisposedException>(() => setup.Allocator.Prewarm(1));

        owner.Dispose();
        group.Dispose();
        Assert.Equal(0, setup.Statistics.CommittedBytes);
        Assert.Equal((0, 0), (setup.Source.LiveReservations, setup.Source.LiveAllocations));
    }

    [Fact]
    public void Dispose_OfDefault_IsIgnored() => RemoteExecutor.Invoke(static () =>
    {
        MemoryAllocator.Default.Dispose();
        using IMemoryOwner<byte> owner = MemoryAllocator.Default.Allocate<byte>(10);
        Assert.Same(MemoryAllocator.Default, MemoryAllocator.Default);
        using MemoryAllocator another = MemoryAllocator.Create();
        Assert.NotSame(MemoryAllocator.Default, another);
    }).Dispose();

    [Theory]
    [InlineData(0, 0)]
    [InlineData(1, 1)]
    [InlineData(3 * TestSetup.BlockSize - 5, 3)]
    [InlineData(1000L * TestSetup.BlockSize, 16)]
    public void Prewarm_AnySize_CommitsWholeBlocksUpToThePoolsSize(long bytes, int blocks)
    {
        using TestSetup setup = new(maximumBlocks: 16);
        setup.Allocator.Prewarm(bytes);
        Assert.Equal(blocks * TestSetup.BlockSize, setup.Statistics.RetainedBytes);
        setup.Allocator.Prewarm(bytes);
        Assert.Equal(blocks * TestSetup.BlockSize, setup.Statistics.CommittedBytes);

        using (MemoryGroup<byte> group = setup.Allocator.AllocateGroup<byte>(Math.Max(1, blocks) * TestSetup.BlockSize))
        {
            Assert.Equal(blocks > 0 ? 1 : 0, setup.Statistics.PoolHits);
        }

        Assert.Throws<ArgumentOutOfRangeException>("bytes", () => setup.Allocator.Prewarm(-1));
    }

    [Fact]
    public void GetStatistics_HitsAndMisses_CountRequestsAboveTheArrays()
    {
        using TestSetup setup = new(maximumBlocks: 4);
        setup.Allocator.Allocate<byte>(10).Dispose();
        setup.Allocator.Allocate<byte>(TestSetup.BlockSize).Dispose();
        setup.Allocator.Allocate<byte>(TestSetup.BlockSize).Dispose();
        setup.Allocator.Allocate<byte>(100 * TestSetup.BlockSize).Dispose();
        setup.Allocator.AllocateGroup<byte>(4 * TestSetup.BlockSize).Dispose();
        setup.Allocator.AllocateGroup<byte>(4 * TestSetup.BlockSize).Dispose();

        MemoryAllocatorStatistics statistics = setup.Statistics;
        Assert.Equal(6, statistics.Rents);
        Assert.Equal(2, statistics.PoolHits);
        Assert.Equal(3, statistics.PoolMisses);
        Assert.Equal(0, statistics.OutstandingAllocations);
        Assert.Equal(100 * TestSetup.BlockSize + TestSetup.BlockSize, statistics.PeakCommittedBytes);
    }

    [Fact]
    public void Allocate_FromAWarmPool_AllocatesOneSmallObject()
    {
        using MemoryAllocator allocator = MemoryAllocator.Create();
        Measure(() => allocator.Allocate<byte>(4 * 1024 * 1024).Dispose());
        Assert.InRange(Measure(() => allocator.Allocate<byte>(4 * 1024 * 1024).Dispose()), 1, 40);
        Assert.InRange(Measure(() => allocator.Allocate<byte>(1000).Dispose()), 1, 40);
        Assert.Equal(0, Measure(() => allocator.Rent<byte>(4 * 1024 * 1024).Dispose()));
        Assert.Equal(0, Measure(() => allocator.Rent<byte>(1000).Dispose()));

        static long Measure(Action action)
        {
            action();
            long before = GC.GetAllocatedBytesForCurrentThread();
            for (int i = 0; i < 100; i++)
            {
                action();
            }

            return (GC.GetAllocatedBytesForCurrentThread() - before) / 100;
        }
    }
}
