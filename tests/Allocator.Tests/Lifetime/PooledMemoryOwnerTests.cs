namespace Allocator.Tests.Lifetime;

public class PooledMemoryOwnerTests
{
    public static TheoryData<int> TierLengths => [100, TestSetup.BlockSize, 3 * TestSetup.BlockSize, 50 * TestSetup.BlockSize];

    [Theory]
    [MemberData(nameof(TierLengths))]
    public void Memory_AfterDispose_ThrowsForEveryWayToGetIt(int length)
    {
        using TestSetup setup = new();
        IMemoryOwner<byte> owner = setup.Allocator.Allocate<byte>(length);
        Memory<byte> memory = owner.Memory;
        Memory<byte> slice = memory.Slice(5, 10);
        owner.Dispose();

        Assert.Throws<ObjectDisposedException>(() => owner.Memory);
        Assert.Throws<ObjectDisposedException>(() => memory.Span[0]);
        Assert.Throws<ObjectDisposedException>(() => slice.Span[0]);
        Assert.Throws<ObjectDisposedException>(() => memory.Pin());
        Assert.Throws<ObjectDisposedException>(() => slice.Pin());
        Assert.Throws<ObjectDisposedException>(() => slice.ToArray());
    }

    [Theory]
    [MemberData(nameof(TierLengths))]
    public void Memory_AfterDisposeWithTheMemoryRentedAgain_StillThrows(int length)
    {
        using TestSetup setup = new();
        IMemoryOwner<byte> stale = setup.Allocator.Allocate<byte>(length);
        Memory<byte> memory = stale.Memory;
        stale.Dispose();
        using IMemoryOwner<byte> next = setup.Allocator.Allocate<byte>(length);
        next.Memory.Span.Fill(9);

        Assert.Throws<ObjectDisposedException>(() => memory.Span.Fill(1));
        stale.Dispose();
        Assert.Equal(-1, next.Memory.Span.IndexOfAnyExcept((byte)9));
        Assert.Equal(1, setup.Statistics.OutstandingAllocations);
    }

    [Fact]
    public async Task Dispose_FromManyThreads_ReturnsOnce()
    {
        using TestSetup setup = new(maximumBlocks: 4);
        for (int i = 0; i < 200; i++)
        {
            IMemoryOwner<byte> owner = setup.Allocator.Allocate<byte>(TestSetup.BlockSize);
            await Task.WhenAll(Enumerable.Range(0, 4).Select(_ => Task.Run(owner.Dispose)));
        }

        Assert.Equal(0, setup.Statistics.OutstandingAllocations);

        // A block that had gone back twice would now be handed out twice.
        IMemoryOwner<byte>[] all = [.. Enumerable.Range(0, 4).Select(_ => setup.Allocator.Allocate<byte>(TestSetup.BlockSize))];
        for (int i = 0; i < all.Length; i++)
        {
            all[i].Memory.Span.Fill((byte)i);
        }

        for (int i = 0; i < all.Length; i++)
        {
            Assert.Equal(-1, all[i].Memory.Span.IndexOfAnyExcept((byte)i));
            all[i].Dispose();
        }
    }

    [Theory]
    [MemberData(nameof(TierLengths))]
    public unsafe void Pin_PastDispose_KeepsTheMemoryOutUntilUnpinned(int length)
    {
        using TestSetup setup = new();
        IMemoryOwner<byte> owner = setup.Allocator.Allocate<byte>(length);
        owner.Memory.Span.Fill(3);
        MemoryHandle first = owner.Memory.Pin();
        MemoryHandle second = owner.Memory.Slice(7).Pin();
        Assert.Equal((nint)first.Pointer + 7, (nint)second.Pointer);
        owner.Dispose();

        Assert.Equal(1, setup.Statistics.OutstandingAllocations);
        first.Dispose();
        using (IMemoryOwner<byte> other = setup.Allocator.Allocate<byte>(length))
        {
            other.Memory.Span.Fill(4);
            Assert.Equal(3, *(byte*)second.Pointer);
        }

        Assert.Equal(1, setup.Statistics.OutstandingAllocations);
        second.Dispose();
        Assert.Equal(0, setup.Statistics.OutstandingAllocations);
        Assert.Equal(setup.Statistics.CommittedBytes, setup.Statistics.RetainedBytes);
    }

    [Fact]
    public void Unpin_MoreOftenThanPinned_DoesNotEndTheRent()
    {
        using TestSetup setup = new();
        using IMemoryOwner<byte> owner = setup.Allocator.Allocate<byte>(TestSetup.BlockSize);
        IPinnable pinnable = (IPinnable)owner;
        pinnable.Pin(0);
        pinnable.Unpin();
        pinnable.Unpin();
        pinnable.Unpin();

        owner.Memory.Span.Fill(1);
        Assert.Equal(1, setup.Statistics.OutstandingAllocations);
    }

    // Pins are counted: docs/promises.md.
    [Theory]
    [InlineData(TestSetup.BlockSize)]
    [InlineData(100)]
    public void Pin_CopyOfAHandleIsDisposedToo_EndsAnotherPinAndNotTheRent(int length)
    {
        using TestSetup setup = new();
        IMemoryOwner<byte> owner = setup.Allocator.Allocate<byte>(length);
        MemoryHandle first = owner.Memory.Pin();
        MemoryHandle copy = first;
        MemoryHandle second = owner.Memory.Pin();
        first.Dispose();
        copy.Dispose();

        owner.Memory.Span.Fill(1);
        Assert.Equal(1, setup.Statistics.OutstandingAllocations);
        owner.Dispose();
        Assert.Equal(0, setup.Statistics.OutstandingAllocations);
        second.Dispose();
        Assert.Equal(0, setup.Statistics.OutstandingAllocations);
    }

    // The collector's handle of an array has gone to somebody else by then.
    [Fact]
    public void Pin_CopyOfAHandleOfAnArrayIsDisposedToo_FreesNoOtherHandle()
    {
        using TestSetup setup = new();
        using IMemoryOwner<byte> owner = setup.Allocator.Allocate<byte>(100);
        for (int i = 0; i < 100; i++)
        {
            MemoryHandle handle = owner.Memory.Pin();
            MemoryHandle copy = handle;
            handle.Dispose();
            byte[] mine = new byte[1];
            GCHandle other = GCHandle.Alloc(mine, GCHandleType.Pinned);
            copy.Dispose();
            GCHandle next = GCHandle.Alloc(new byte[1], GCHandleType.Pinned);
            Assert.NotEqual(GCHandle.ToIntPtr(other), GCHandle.ToIntPtr(next));
            Assert.Same(mine, other.Target);
            other.Free();
            next.Free();
        }
    }

    [Fact]
    public void Pin_AfterTheLastRelease_IsRefused()
    {
        using TestSetup setup = new();
        IMemoryOwner<byte> owner = setup.Allocator.Allocate<byte>(TestSetup.BlockSize);
        IPinnable pinnable = (IPinnable)owner;
        MemoryHandle handle = pinnable.Pin(0);
        owner.Dispose();
        Assert.Throws<ObjectDisposedException>(() => pinnable.Pin(0));
        handle.Dispose();
        Assert.Throws<ObjectDisposedException>(() => pinnable.Pin(0));
        pinnable.Unpin();
        Assert.Equal(0, setup.Statistics.OutstandingAllocations);
    }

    [Fact]
    public void Pin_IndexOutOfRange_ThrowsAndAddsNoReference()
    {
        using TestSetup setup = new();
        IMemoryOwner<int> owner = setup.Allocator.Allocate<int>(1000);
        Assert.Throws<ArgumentOutOfRangeException>("elementIndex", () => ((IPinnable)owner).Pin(1001));
        Assert.Throws<ArgumentOutOfRangeException>("elementIndex", () => ((IPinnable)owner).Pin(-1));
        owner.Dispose();
        Assert.Equal(0, setup.Statistics.OutstandingAllocations);
    }

    [Fact]
    public unsafe void Pin_MoreThanCanBeCounted_ThrowsAndLosesNothing()
    {
        using TestSetup setup = new();
        IMemoryOwner<byte> owner = setup.Allocator.Allocate<byte>(TestSetup.BlockSize);
        IPinnable pinnable = (IPinnable)owner;
        int pins = 0;
        Assert.Throws<InvalidOperationException>((Action)(() =>
        {
            while (true)
            {
                pinnable.Pin(0);
                pins++;
            }
        }));
        Assert.Equal(65534, pins);
        for (int i = 0; i < pins; i++)
        {
            pinnable.Unpin();
        }

        owner.Dispose();
        Assert.Equal(0, setup.Statistics.OutstandingAllocations);
    }

    [Fact]
    public void Memory_OfBytesUpToOneMebibyte_IsAnArray()
    {
        using TestSetup setup = new();
        using IMemoryOwner<byte> small = setup.Allocator.Allocate<byte>(100);
        using IMemoryOwner<byte> block = setup.Allocator.Allocate<byte>(TestSetup.BlockSize);
        Assert.True(System.Runtime.InteropServices.MemoryMarshal.TryGetArray<byte>(small.Memory, out ArraySegment<byte> segment));
        Assert.Equal(100, segment.Count);
        Assert.False(System.Runtime.InteropServices.MemoryMarshal.TryGetArray<byte>(block.Memory, out _));
    }
}
