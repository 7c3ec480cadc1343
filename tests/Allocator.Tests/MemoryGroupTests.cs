namespace Allocator.Tests;

public class MemoryGroupTests
{
    [StructLayout(LayoutKind.Sequential, Size = 12)]
    private struct Element12
    {
        public int A;
    }

    [Fact]
    public void AllocateGroup_AboveOneBlock_HasEqualMembersAndAShorterLast()
    {
        using TestSetup setup = new(maximumBlocks: 16);
        using MemoryGroup<int> group = setup.Allocator.AllocateGroup<int>(10_000, 30);

        Assert.Equal(10_000, group.TotalLength);
        Assert.Equal(TestSetup.BlockSize / 4 / 30 * 30, group.BlockLength);
        Assert.Equal(3, group.Count);
        Assert.False(group.IsContiguous);
        Assert.Equal([group.BlockLength, group.BlockLength, 10_000 - 2 * group.BlockLength], group.Select(static member => member.Length));
    }

    [Theory]
    [InlineData(0)]
    [InlineData(1)]
    [InlineData(TestSetup.ArrayThreshold)]
    [InlineData(TestSetup.BlockSize)]
    public void AllocateGroup_UpToOneBlock_HasOneMember(int length)
    {
        using TestSetup setup = new();
        using MemoryGroup<byte> group = setup.Allocator.AllocateGroup<byte>(length);
        Assert.Equal((1, length, true), (group.Count, group.BlockLength, group.IsContiguous));
        Assert.Equal(length, group[0].Length);
        Assert.Equal(length, group.Single().Span.Length);
        group.Fill(1);
        group.Clear();
    }

    [Theory]
    [InlineData(1)]
    [InlineData(7)]
    [InlineData(1365)]
    [InlineData(1366)]
    [InlineData(5000)]
    [InlineData(10922)]
    public void AllocateGroup_AnyElementAlignment_HoldsMultiplesOfItInEveryMember(int alignment)
    {
        using TestSetup setup = new(maximumBlocks: 8);
        using MemoryGroup<Element12> group = setup.Allocator.AllocateGroup<Element12>(40_000, alignment);
        Assert.Equal(0, group.BlockLength % alignment);
        Assert.Equal(40_000, group.Sum(static member => (long)member.Length));
        Assert.All(group.SkipLast(1), member => Assert.Equal(group.BlockLength, member.Length));
        WritePattern(group);
    }

    [Fact]
    public void AllocateGroup_PoolPartlyInUse_TakesFreeBlocksAndSegments()
    {
        using TestSetup setup = new(maximumBlocks: 16);
        using MemoryGroup<byte> taken = setup.Allocator.AllocateGroup<byte>(10 * TestSetup.BlockSize);
        using (MemoryGroup<byte> group = setup.Allocator.AllocateGroup<byte>(16 * TestSetup.BlockSize - 100))
        {
            // 6 blocks of the pool; 10 members in segments of 8.
            Assert.Equal((16, TestSetup.BlockSize), (group.Count, group.BlockLength));
            Assert.Equal(2, setup.Source.LiveAllocations);
            Assert.Equal(26 * TestSetup.BlockSize, setup.Statistics.RentedBytes);
            Assert.Equal(2, setup.Statistics.OutstandingAllocations);
            WritePattern(group);
        }

        Assert.Equal(0, setup.Source.LiveAllocations);
        Assert.Equal((10 * TestSetup.BlockSize, 6 * TestSetup.BlockSize), (setup.Statistics.RentedBytes, setup.Statistics.RetainedBytes));
    }

    [Fact]
    public void AllocateGroup_LargerThanThePool_ComesInSegmentsThatAreFreedAtOnce()
    {
        using TestSetup setup = new(maximumBlocks: 4);
        using (MemoryGroup<byte> group = setup.Allocator.AllocateGroup<byte>(20 * TestSetup.BlockSize))
        {
            Assert.Equal((3, TestSetup.SegmentSize), (group.Count, group.BlockLength));
            Assert.Equal(3, setup.Source.LiveAllocations);
            WritePattern(group);
        }

        Assert.Equal((0, 0L), (setup.Source.LiveAllocations, setup.Statistics.CommittedBytes));
    }

    [Fact]
    public void AllocateGroup_RealSizes_UsesSegmentsOfAtMost32Mebibytes()
    {
        using MemoryAllocator allocator = MemoryAllocator.Create(new MemoryAllocatorOptions { MaximumPoolSizeMegabytes = 0 });
        using MemoryGroup<byte> group = allocator.AllocateGroup<byte>(100L << 20);
        Assert.Equal((4, 32 << 20), (group.Count, group.BlockLength));
    }

    [Fact]
    public void AllocateGroup_Contiguous_IsOneMemberOfAdjacentBlocks()
    {
        using TestSetup setup = new(maximumBlocks: 16);
        using (MemoryGroup<byte> group = setup.Allocator.AllocateGroup<byte>(5 * TestSetup.BlockSize - 1, 1, AllocationOptions.Contiguous))
        {
            Assert.Equal((1, true), (group.Count, group.IsContiguous));
            Assert.Equal((5 * TestSetup.BlockSize, 0), (setup.Statistics.RentedBytes, setup.Source.LiveAllocations));
            WritePattern(group);
        }

        Assert.Equal(5 * TestSetup.BlockSize, setup.Statistics.RetainedBytes);
    }

    [Fact]
    public void AllocateGroup_PreferContiguous_IsContiguousUnasked()
    {
        using TestSetup setup = new(16, new MemoryAllocatorOptions { PreferContiguous = true });
        using MemoryGroup<byte> group = setup.Allocator.AllocateGroup<byte>(5 * TestSetup.BlockSize);
        using PixelBuffer<int> pixels = setup.Allocator.AllocatePixels<int>(1000, 20);
        Assert.True(group.IsContiguous && pixels.IsContiguous);
    }

    [Fact]
    public void Item_SameIndexTwice_IsTheSameMemoryAndCostsOneObject()
    {
        using TestSetup setup = new();
        using MemoryGroup<byte> group = setup.Allocator.AllocateGroup<byte>(3 * TestSetup.BlockSize);
        Assert.Equal(group[1], group[1]);
        long before = GC.GetAllocatedBytesForCurrentThread();
        for (int i = 0; i < 100; i++)
        {
            _ = group[1];
        }

        Assert.Equal(before, GC.GetAllocatedBytesForCurrentThread());
        Assert.Throws<ArgumentOutOfRangeException>("index", () => group[3]);
        Assert.Throws<ArgumentOutOfRangeException>("index", () => group[-1]);
    }

    [Fact]
    public unsafe void Pin_SliceOfAMember_GivesTheAddressOfItsFirstElement()
    {
        using TestSetup setup = new(maximumBlocks: 4);

        // 4 members from the pool, and a segment that holds several.
        using MemoryGroup<byte> pool = setup.Allocator.AllocateGroup<byte>(2 * TestSetup.BlockSize);
        MemoryGroup<byte> group = setup.Allocator.AllocateGroup<byte>(4 * TestSetup.BlockSize);
        for (int i = 0; i < group.Count; i++)
        {
            group[i].Span[77] = (byte)(i + 1);
        }

        for (int i = 0; i < group.Count; i++)
        {
            using MemoryHandle handle = group[i].Slice(77).Pin();
            Assert.Equal(i + 1, *(byte*)handle.Pointer);
        }

        MemoryHandle first = group[3].Slice(77).Pin();
        MemoryHandle second = group[3].Slice(77).Pin();
        group.Dispose();
        first.Dispose();
        using (MemoryGroup<byte> other = setup.Allocator.AllocateGroup<byte>(4 * TestSetup.BlockSize))
        {
            other.Fill(0xEE);
            Assert.Equal(4, *(byte*)second.Pointer);
        }

        second.Dispose();
        Assert.Equal(1, setup.Statistics.OutstandingAllocations);
    }

    [Fact]
    public void Members_AfterDispose_Throw()
    {
        using TestSetup setup = new();
        MemoryGroup<byte> group = setup.Allocator.AllocateGroup<byte>(3 * TestSetup.BlockSize);
        Memory<byte> member = group[2];
        group.Dispose();
        group.Dispose();
        using MemoryGroup<byte> next = setup.Allocator.AllocateGroup<byte>(3 * TestSetup.BlockSize);

        Assert.Throws<ObjectDisposedException>(() => member.Span[0]);
        Assert.Throws<ObjectDisposedException>(() => member.Pin());
        Assert.Throws<ObjectDisposedException>(() => group[0]);
        Assert.Throws<ObjectDisposedException>(() => group.Fill(1));
        Assert.Throws<ObjectDisposedException>(() => group.Clear());
        Assert.Throws<ObjectDisposedException>(() => group.CopyTo(next));
        Assert.Throws<ObjectDisposedException>(() => next.CopyTo(group));
        Assert.Throws<ObjectDisposedException>(() => group.CopyTo(new byte[3 * TestSetup.BlockSize]));
        Assert.Throws<ObjectDisposedException>(() => group.CopyFrom(new byte[1]));
        Assert.Throws<ObjectDisposedException>(() => group.ToList());
        next.Dispose();
        Assert.Equal(0, setup.Statistics.OutstandingAllocations);
        Assert.Equal(setup.Statistics.CommittedBytes, setup.Statistics.RetainedBytes);
    }

    // A race of the user's own making may read old pixels or throw; it must not reach address 0, which ends the process: in one of its
    // own. More threads than cores, so that some are interrupted between the check and the use.
    [Fact]
    public void Span_WhileAnotherThreadDisposes_IsValidOrThrows() => RemoteExecutor.Invoke(static () =>
    {
        using TestSetup setup = new(maximumBlocks: 64);

        // Blocks for all: a mapping would be unmapped under the spans that the race leaves behind.
        setup.Allocator.Prewarm(64 * TestSetup.BlockSize);
        TestThreads.Run(4 * Environment.ProcessorCount, thread =>
        {
            for (int i = 0; i < 100 * Races.Rounds; i++)
            {
                MemoryGroup<byte> group = setup.Allocator.AllocateGroup<byte>(TestSetup.BlockSize);
                Memory<byte> member = group[0];
                ThreadPool.UnsafeQueueUserWorkItem(static state => ((IDisposable)state!).Dispose(), group);
                try
                {
                    while (true)
                    {
                        _ = Volatile.Read(ref member.Span[TestSetup.BlockSize - 1]);
                    }
                }
                catch (ObjectDisposedException)
                {
                    // The end of every round.
                }
            }
        });
        Assert.Equal(0, setup.Statistics.OutstandingAllocations);
    }).Dispose();

    [Fact]
    public void CopyTo_GroupsWithDifferentMembers_CopiesAll()
    {
        using TestSetup setup = new(maximumBlocks: 32);
        using MemoryGroup<int> source = setup.Allocator.AllocateGroup<int>(20_000, 33);
        using MemoryGroup<int> destination = setup.Allocator.AllocateGroup<int>(20_100, 1000);
        using MemoryGroup<int> tooShort = setup.Allocator.AllocateGroup<int>(19_999);
        int[] values = [.. Enumerable.Range(0, 20_000)];
        source.CopyFrom(values);
        destination.Fill(-1);
        source.CopyTo(destination);

        int[] copied = new int[20_100];
        destination.CopyTo(copied);
        Assert.Equal(values, copied.Take(20_000));
        Assert.All(copied.Skip(20_000), static value => Assert.Equal(-1, value));
        Assert.Throws<ArgumentException>("destination", () => source.CopyTo(tooShort));
        Assert.Throws<ArgumentException>("destination", () => source.CopyTo(new int[19_999]));
        Assert.Throws<ArgumentException>("source", () => tooShort.CopyFrom(values));
        Assert.Throws<ArgumentNullException>("destination", () => source.CopyTo((MemoryGroup<int>)null!));
    }

    [Fact]
    public void AllocateGroup_SixteenBlocks_CostsThreeObjects()
    {
        using TestSetup setup = new(maximumBlocks: 16);
        setup.Allocator.AllocateGroup<byte>(16 * TestSetup.BlockSize).Dispose();
        long before = GC.GetAllocatedBytesForCurrentThread();
        setup.Allocator.AllocateGroup<byte>(16 * TestSetup.BlockSize).Dispose();

        // The group and the table of its 16 members.
        Assert.InRange(GC.GetAllocatedBytesForCurrentThread() - before, 1, 80 + 24 + 16 * 8);
    }

    private static void WritePattern<T>(MemoryGroup<T> group)
        where T : struct
    {
        List<Memory<T>> members = [.. group];
        for (int i = 0; i < members.Count; i++)
        {
            MemoryMarshal.AsBytes(members[i].Span).Fill((byte)(i + 1));
        }

        for (int i = 0; i < members.Count; i++)
        {
            Assert.Equal(-1, MemoryMarshal.AsBytes(members[i].Span).IndexOfAnyExcept((byte)(i + 1)));
        }
    }
}
