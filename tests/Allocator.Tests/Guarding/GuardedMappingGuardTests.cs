using System.Collections.Concurrent;
using static Allocator.Tests.Fakes.GuardedSetup;

namespace Allocator.Tests.Guarding;

/// <summary>
/// What watched memory is like, what is found in it, and where it goes. What ends the process is in <see cref="GuardedFaultTests"/>.
/// </summary>
public class GuardedMappingGuardTests
{
    private const int Block = TestSetup.BlockSize;

    public static TheoryData<int> Lengths => [1, 63, 64, 65, 100, 1000, 4033, 4095, 4096, 4097, 10_000, 3 * Block, 3 * Block + 1];

    [Theory]
    [MemberData(nameof(Lengths))]
    public void Allocate_AnyLength_EndsWithinTheAlignmentOfTheLastPage(int length)
    {
        using TestSetup setup = Create(SafetyMode.Guarded);
        using IMemoryOwner<byte> dirty = setup.Allocator.Allocate<byte>(length);
        using IMemoryOwner<byte> clean = setup.Allocator.Allocate<byte>(length, AllocationOptions.Clean);

        foreach (IMemoryOwner<byte> owner in (IMemoryOwner<byte>[])[dirty, clean])
        {
            nint address = AddressOf(owner);
            Assert.Equal(length, owner.Memory.Length);
            Assert.Equal(0, address % NativeMemorySource.MinimumAlignment);
            Assert.InRange(-(address + length) & (Page - 1), 0, NativeMemorySource.MinimumAlignment - 1);
        }

        Assert.Equal(-1, dirty.Memory.Span.IndexOfAnyExcept((byte)0xCD));
        Assert.Equal(-1, clean.Memory.Span.IndexOfAnyExcept((byte)0));
        Assert.Equal(2 * ((length + Page - 1) & -Page), setup.Statistics.RentedBytes);
        Assert.Equal((2L, 2L), (setup.Statistics.OutstandingAllocations, setup.Statistics.Rents));
    }

    [Fact]
    public void AllocateAligned_EveryPowerOfTwo_StartsOnTheBoundary()
    {
        using TestSetup setup = Create(SafetyMode.Guarded);
        for (int alignment = 1; alignment <= NativeMemorySource.MaximumAlignment; alignment *= 2)
        {
            foreach (int length in (int[])[1, 100, 5000, 3 * Block])
            {
                using IMemoryOwner<byte> owner = setup.Allocator.AllocateAligned<byte>(length, alignment);
                Assert.Equal(0, AddressOf(owner) % alignment);
                owner.Memory.Span.Fill(1);
            }
        }

        setup.Allocator.ReleaseRetainedResources();
        Assert.Equal((0L, 0), (setup.Statistics.CommittedBytes, setup.Source.LiveAllocations));
    }

    [Fact]
    public void Allocate_AfterEarlierReturns_GetsNewMemory()
    {
        using TestSetup setup = Create(SafetyMode.Guarded, maximumBlocks: 1);
        for (int i = 0; i < 6; i++)
        {
            bool clean = i % 2 == 1;
            using IMemoryOwner<byte> owner = setup.Allocator.Allocate<byte>(Block - i, clean
                ? AllocationOptions.Clean
                : AllocationOptions.None);
            Assert.Equal(-1, owner.Memory.Span.IndexOfAnyExcept(clean ? (byte)0 : (byte)0xCD));
            owner.Memory.Span.Fill(7);
        }

        Assert.Equal(6, setup.Statistics.Rents);
    }

    [Theory]
    [InlineData(0, CorruptionKind.Overrun)]
    [InlineData(27, CorruptionKind.Overrun)]
    [InlineData(-1, CorruptionKind.Underrun)]
    [InlineData(-3000, CorruptionKind.Underrun)]
    public void Dispose_SlackWritten_ThrowsOnceAndReturnsTheMemory(int offset, CorruptionKind kind)
    {
        using TestSetup setup = Create(SafetyMode.Guarded);
        IMemoryOwner<byte> owner = setup.Allocator.Allocate<byte>(100);
        setup.Clock.Advance(TimeSpan.FromSeconds(3));
        Change(AddressOf(owner) + (offset < 0 ? offset : 100 + offset));

        CorruptionEventArgs corruption = Assert.Throws<MemoryCorruptedException>(owner.Dispose).Corruption;
        owner.Dispose();

        Assert.Equal((kind, 100L, TimeSpan.FromSeconds(3)), (corruption.Kind, corruption.Bytes, corruption.Age));
        Assert.Equal(offset < 0 ? offset : 100 + offset, corruption.Offset);
        Assert.Contains(nameof(Dispose_SlackWritten_ThrowsOnceAndReturnsTheMemory), corruption.AllocationStackTrace);
        Assert.Contains(nameof(Dispose_SlackWritten_ThrowsOnceAndReturnsTheMemory), corruption.ReturnStackTrace);
        Assert.Equal(
            (0L, 0L, 4096L), (setup.Statistics.OutstandingAllocations, setup.Statistics.RentedBytes, setup.Statistics.QuarantinedBytes));
    }

    // In a process of its own: the reports are those of all its buffers. They come in the order in which they were found.
    [Fact]
    public void Dispose_WholeBufferWritten_FindsNothing() => RemoteExecutor.Invoke(static () =>
    {
        using BlockingCollection<CorruptionEventArgs> reports = [];
        MemoryDiagnostics.CorruptionFound += (_, report) => reports.Add(report);
        foreach (SafetyMode mode in (SafetyMode[])[SafetyMode.Sampled, SafetyMode.Guarded])
        {
            using TestSetup setup = Create(mode);
            for (int length = 1; length < 300; length++)
            {
                using IMemoryOwner<byte> owner = setup.Allocator.Allocate<byte>(length);
                owner.Memory.Span.Fill((byte)length);
            }

            Assert.Equal(mode == SafetyMode.Sampled, AllocationRecords.CurrentPath is null);
        }

        IReadOnlyList<AllocationRecord> records = AllocationRecords.Open(AllocationRecords.CurrentPath!).Records;
        Assert.Equal(299, records.Count);
        Assert.All(records, static record => Assert.Null(record.Corruption));
        using TestSetup last = Create(SafetyMode.Sampled);
        IMemoryOwner<byte> overrun = last.Allocator.Allocate<byte>(300);
        Change(AddressOf(overrun) + 300);
        overrun.Dispose();
        Assert.True(reports.TryTake(out CorruptionEventArgs? report, TimeSpan.FromSeconds(30)));
        Assert.Equal(300, report.Bytes);
    }).Dispose();

    [Fact]
    public void Dispose_MemberOfAGroupOverrun_ThrowsAfterAllAreReturned()
    {
        using TestSetup setup = Create(SafetyMode.Guarded);
        MemoryGroup<byte> group = setup.Allocator.AllocateGroup<byte>(3 * Block - 10);
        Assert.Equal((3, Block, false), (group.Count, group.BlockLength, group.IsContiguous));
        Change(AddressOf(group[2].Span) + Block - 10);

        CorruptionEventArgs corruption = Assert.Throws<MemoryCorruptedException>(group.Dispose).Corruption;

        Assert.Equal((CorruptionKind.Overrun, Block - 10L), (corruption.Kind, corruption.Offset));
        Assert.Equal(
            (0L, 0L, 3L * Block),
            (setup.Statistics.OutstandingAllocations, setup.Statistics.RentedBytes, setup.Statistics.QuarantinedBytes));
    }

    [Fact]
    public void ReleaseRetainedResources_ReturnedMemoryWritten_ThrowsAndReleasesAll()
    {
        using TestSetup setup = Create(SafetyMode.Guarded);
        nint address = AllocateAndReturn(setup, Block);
        AllocateAndReturn(setup, 100);
        ChangeReturned(setup, address + 5000);

        CorruptionEventArgs corruption = Assert.Throws<MemoryCorruptedException>(setup.Allocator.ReleaseRetainedResources).Corruption;

        Assert.Equal((CorruptionKind.WriteAfterReturn, 5000L, (long)Block), (corruption.Kind, corruption.Offset, corruption.Bytes));
        Assert.Equal((0L, 0L, 0), (setup.Statistics.CommittedBytes, setup.Statistics.QuarantinedBytes, setup.Source.LiveAllocations));
    }

    [Fact]
    public void Dispose_AnotherReturnedBufferWrittenTo_ThrowsWhenItMakesRoom()
    {
        using TestSetup setup = Create(SafetyMode.Guarded, maximumBlocks: 1);
        ChangeReturned(setup, AllocateAndReturn(setup, Block));
        IMemoryOwner<byte> other = setup.Allocator.Allocate<byte>(100);

        Assert.Equal(CorruptionKind.WriteAfterReturn, Assert.Throws<MemoryCorruptedException>(other.Dispose).Corruption.Kind);
        Assert.Equal((0L, (long)Page, 1), (setup.Statistics.RentedBytes, setup.Statistics.QuarantinedBytes, setup.Source.LiveAllocations));
    }

    [Fact]
    public void Dispose_OfTheAllocator_VerifiesReturnedMemoryAndTheRestLater()
    {
        TestSetup setup = Create(SafetyMode.Guarded);
        IMemoryOwner<byte> survivor = setup.Allocator.Allocate<byte>(Block);
        ChangeReturned(setup, AllocateAndReturn(setup, Block));

        Assert.Throws<MemoryCorruptedException>(setup.Dispose);
        Assert.Equal(1, setup.Source.LiveAllocations);
        survivor.Memory.Span.Fill(1);
        survivor.Dispose();
        Assert.Equal((0L, 0), (setup.Statistics.CommittedBytes, setup.Source.LiveAllocations));
        setup.Dispose();
    }

    [Fact]
    public void Dispose_Guarded_KeepsAsMuchAsThePoolMayHold()
    {
        using TestSetup setup = Create(SafetyMode.Guarded, maximumBlocks: 4);
        AllocateAndReturn(setup, 5 * Block);
        Assert.Equal((0L, 0), (setup.Statistics.CommittedBytes, setup.Source.LiveAllocations));

        for (int i = 1; i <= 10; i++)
        {
            AllocateAndReturn(setup, Block + 1);
            long kept = Math.Min(i, 3) * (Block + Page);
            Assert.Equal((kept, kept), (setup.Statistics.QuarantinedBytes, setup.Statistics.CommittedBytes));
        }
    }

    [Fact]
    public void Dispose_Guarded_KeepsTheLast256()
    {
        using TestSetup setup = Create(SafetyMode.Guarded, maximumBlocks: 1024);
        List<IMemoryOwner<byte>> owners = [.. Enumerable.Range(0, 300).Select(_ => setup.Allocator.Allocate<byte>(10))];
        owners.ForEach(static owner => owner.Dispose());
        Assert.Equal((256, 256L * Page), (setup.Source.LiveAllocations, setup.Statistics.QuarantinedBytes));
    }

    [Fact]
    public void Dispose_Sampled_KeepsSixteenAddressesAndNoMemory()
    {
        using TestSetup setup = Create(SafetyMode.Sampled);
        for (int i = 0; i < 40; i++)
        {
            AllocateAndReturn(setup, Block);
            Assert.Equal((0L, 0L, 0L), (setup.Statistics.CommittedBytes, setup.Statistics.QuarantinedBytes, setup.Statistics.RentedBytes));
        }

        Assert.Equal(16, setup.Source.LiveAllocations);
        setup.Allocator.ReleaseRetainedResources();
        Assert.Equal((0, 40L), (setup.Source.LiveAllocations, setup.Statistics.Rents));
    }

    [Fact]
    public void Dispose_Sampled_NeverThrows()
    {
        using TestSetup setup = Create(SafetyMode.Sampled);
        IMemoryOwner<byte> owner = setup.Allocator.Allocate<byte>(100);
        Change(AddressOf(owner) + 100);
        owner.Dispose();
        Assert.Equal(0, setup.Statistics.OutstandingAllocations);
    }

    [Fact]
    public void Allocate_SampledAndNotChosen_ComesFromArraysAndThePool()
    {
        using TestSetup setup = new(16, new MemoryAllocatorOptions { Safety = SafetyMode.Sampled, SafetySampleInterval = int.MaxValue });
        for (int i = 0; i < 100; i++)
        {
            setup.Allocator.Allocate<byte>(100).Dispose();
            setup.Allocator.Allocate<byte>(Block).Dispose();
            setup.Allocator.AllocateGroup<byte>(3 * Block).Dispose();
            setup.Allocator.AllocateAligned<byte>(100, 4096).Dispose();
        }

        Assert.Equal((400L, 3L * Block, 0), (setup.Statistics.Rents, setup.Statistics.RetainedBytes, setup.Source.LiveAllocations));
    }

    // A server that needs arrays of its pool ended connections at random.
    [Fact]
    public void Rent_SampledWhereAnArrayIsPromised_IsAlwaysAnArray()
    {
        using MemoryAllocator allocator = MemoryAllocator.Create(
            new MemoryAllocatorOptions { Safety = SafetyMode.Sampled, SafetySampleInterval = 2 });
        using MemoryPool<byte> pool = allocator.AsMemoryPool<byte>();
        for (int length = 1; length <= 1 << 20; length *= 2)
        {
            for (int i = 0; i < 20; i++)
            {
                using IMemoryOwner<byte> owner = pool.Rent(length);
                Assert.True(MemoryMarshal.TryGetArray<byte>(owner.Memory, out _), $"{length} bytes are no array.");
                using PooledMemoryStream stream = allocator.CreateStream(length);
                stream.Write(new byte[length]);
                Assert.True(stream.TryGetBuffer(out _), $"A stream of {length} bytes is in no array.");
            }
        }
    }

    [Fact]
    public void Pin_PastDispose_KeepsTheMemoryAccessible()
    {
        using TestSetup setup = Create(SafetyMode.Guarded);
        IMemoryOwner<byte> owner = setup.Allocator.Allocate<byte>(Block);
        using (MemoryHandle handle = owner.Memory.Pin())
        {
            owner.Dispose();
            Change(PointerOf(handle));
            Assert.Equal((1L, Block), (setup.Statistics.OutstandingAllocations, setup.Statistics.RentedBytes));
        }

        Assert.Equal((0L, Block), (setup.Statistics.OutstandingAllocations, setup.Statistics.QuarantinedBytes));
        Assert.Throws<ObjectDisposedException>(() => owner.Memory.Span[0]);
    }

    [Fact]
    public void Tick_HighLoad_ReleasesReturnedMemory()
    {
        using TestSetup setup = Create(SafetyMode.Guarded);
        AllocateAndReturn(setup, Block);
        setup.Clock.Advance(TimeSpan.FromMinutes(5));
        Assert.Equal(Block, setup.Statistics.QuarantinedBytes);
        setup.Pressure.IsHigh = true;
        setup.Clock.Advance(TimeSpan.FromMinutes(1));
        Assert.Equal((0L, 0), (setup.Statistics.CommittedBytes, setup.Source.LiveAllocations));
        Assert.False(setup.Scheduler.IsRunning);
    }

    [Theory]
    [InlineData(SafetyMode.Sampled)]
    [InlineData(SafetyMode.Guarded)]
    public async Task Allocate_ManyThreadsAndReleases_AccountsForEveryByte(SafetyMode mode)
    {
        using TestSetup setup = Create(mode, maximumBlocks: 4);
        await Task.WhenAll(Enumerable.Range(0, 4).Select(thread => Task.Run(() =>
        {
            for (int i = 0; i < 400; i++)
            {
                using IMemoryOwner<byte> owner = setup.Allocator.Allocate<byte>(i % 3 == 0 ? 100 : Block);
                using MemoryGroup<byte> group = setup.Allocator.AllocateGroup<byte>(2 * Block + 1);
                owner.Memory.Span.Fill((byte)thread);
                group.Fill((byte)thread);
                Assert.Equal(-1, owner.Memory.Span.IndexOfAnyExcept((byte)thread));
                if (i % 50 == thread)
                {
                    setup.Allocator.ReleaseRetainedResources();
                }
            }
        })));

        MemoryAllocatorStatistics now = setup.Statistics;
        Assert.Equal((0L, 0L, 3200L), (now.OutstandingAllocations, now.RentedBytes, now.Rents));
        Assert.Equal(now.QuarantinedBytes, now.CommittedBytes);
        setup.Allocator.ReleaseRetainedResources();
        Assert.Equal((0L, 0L, 0), (setup.Statistics.CommittedBytes, setup.Statistics.QuarantinedBytes, setup.Source.LiveAllocations));
    }

    private static unsafe nint PointerOf(MemoryHandle handle) => (nint)handle.Pointer;

    private static nint AllocateAndReturn(TestSetup setup, int length)
    {
        using IMemoryOwner<byte> owner = setup.Allocator.Allocate<byte>(length);
        owner.Memory.Span.Fill(1);
        return AddressOf(owner);
    }
}
