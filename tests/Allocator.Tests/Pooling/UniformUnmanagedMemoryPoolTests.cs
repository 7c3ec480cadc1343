namespace Allocator.Tests.Pooling;

public class UniformUnmanagedMemoryPoolTests
{
    private const int Block = TestSetup.BlockSize;

    [Fact]
    public unsafe void Rent_AfterReturn_GivesTheSameBlockAgain()
    {
        using TestSetup setup = new();
        nint first;
        using (IMemoryOwner<byte> owner = setup.Allocator.Allocate<byte>(Block))
        {
            using MemoryHandle handle = owner.Memory.Pin();
            first = (nint)handle.Pointer;
        }

        for (int i = 0; i < 10; i++)
        {
            using IMemoryOwner<byte> owner = setup.Allocator.Allocate<byte>(Block);
            using MemoryHandle handle = owner.Memory.Pin();
            Assert.Equal(first, (nint)handle.Pointer);
        }

        Assert.Equal(Block, setup.Statistics.PeakCommittedBytes);
    }

    [Fact]
    public void Rent_GroupsAfterReturn_NeedNoNewMemory()
    {
        using TestSetup setup = new();
        for (int i = 0; i < 10; i++)
        {
            setup.Allocator.AllocateGroup<byte>(10 * Block).Dispose();
            setup.Allocator.Allocate<byte>(Block).Dispose();
            setup.Allocator.Allocate<byte>(10 * Block).Dispose();
        }

        Assert.Equal(10 * Block, setup.Statistics.PeakCommittedBytes);
    }

    [Fact]
    public void Rent_RunNeedsNewMemoryWhileBlocksAreIdle_PurgesAsMuch()
    {
        using TestSetup setup = new(maximumBlocks: 16);
        IMemoryOwner<byte>[] blocks = [.. Enumerable.Range(0, 6).Select(_ => setup.Allocator.Allocate<byte>(Block))];
        blocks[0].Dispose();
        blocks[2].Dispose();
        blocks[4].Dispose();
        using (setup.Allocator.Allocate<byte>(3 * Block))
        {
            Assert.Equal((6L * Block, 3L * Block), (setup.Statistics.CommittedBytes, setup.Statistics.TrimmedBytes));
        }

        Array.ForEach(blocks, static block => block.Dispose());
        Assert.Equal(6 * Block, setup.Statistics.RetainedBytes);
    }

    [Fact]
    public void Rent_MoreThanThePool_IsServedByTheSystemAndFreedAtOnce()
    {
        using TestSetup setup = new(maximumBlocks: 3);
        List<IMemoryOwner<byte>> owners = [.. Enumerable.Range(0, 5).Select(_ => setup.Allocator.Allocate<byte>(Block))];
        Assert.Equal((2, 5L * Block), (setup.Source.LiveAllocations, setup.Statistics.CommittedBytes));
        owners.ForEach(static owner => owner.Dispose());
        Assert.Equal((0, 3L * Block), (setup.Source.LiveAllocations, setup.Statistics.RetainedBytes));
    }

    [Theory]
    [InlineData(64)]
    [InlineData(65)]
    [InlineData(200)]
    public void Rent_ManyBlocksOverSeveralArenas_GivesEachItsOwn(int count)
    {
        using TestSetup setup = new(maximumBlocks: count);
        List<IMemoryOwner<byte>> owners = [.. Enumerable.Range(0, count).Select(_ => setup.Allocator.Allocate<byte>(Block))];
        for (int i = 0; i < count; i++)
        {
            owners[i].Memory.Span.Fill((byte)i);
        }

        for (int i = 0; i < count; i++)
        {
            Assert.Equal(-1, owners[i].Memory.Span.IndexOfAnyExcept((byte)i));
        }

        Assert.Equal(0, setup.Source.LiveAllocations);
        Assert.Equal((count + 63) / 64, setup.Source.LiveReservations);
        owners.ForEach(static owner => owner.Dispose());
        Assert.Equal((long)count * Block, setup.Statistics.RetainedBytes);
    }

    [Theory]
    [InlineData(2)]
    [InlineData(63)]
    [InlineData(64)]
    public void Rent_RunUpToOneArena_ComesFromThePool(int blocks)
    {
        using TestSetup setup = new(maximumBlocks: 64);
        for (int i = 0; i < 3; i++)
        {
            using IMemoryOwner<byte> run = setup.Allocator.Allocate<byte>(blocks * Block);
            run.Memory.Span.Fill(1);
            Assert.Equal((0, (long)blocks * Block), (setup.Source.LiveAllocations, setup.Statistics.RentedBytes));
            Assert.Equal(1, setup.Statistics.OutstandingAllocations);
        }

        Assert.Equal((1, 2), (setup.Statistics.PoolMisses, setup.Statistics.PoolHits));
    }

    [Fact]
    public void Rent_RunLongerThanAnArena_ComesFromTheSystem()
    {
        using TestSetup setup = new(maximumBlocks: 128);
        using IMemoryOwner<byte> run = setup.Allocator.Allocate<byte>(65 * Block);
        Assert.Equal(1, setup.Source.LiveAllocations);
    }

    [Fact]
    public void Rent_RunWithTheBlocksInTheCache_DrainsTheCache()
    {
        using TestSetup setup = new(maximumBlocks: 4);
        List<IMemoryOwner<byte>> owners = [.. Enumerable.Range(0, 4).Select(_ => setup.Allocator.Allocate<byte>(Block))];
        owners.ForEach(static owner => owner.Dispose());
        using IMemoryOwner<byte> run = setup.Allocator.Allocate<byte>(4 * Block);
        Assert.Equal((0, 1L), (setup.Source.LiveAllocations, setup.Statistics.PoolHits));
    }

    [Fact]
    public void Rent_RunLongerThanAnyGap_ComesFromTheSystem()
    {
        using TestSetup setup = new(maximumBlocks: 4);
        List<IMemoryOwner<byte>> owners = [.. Enumerable.Range(0, 4).Select(_ => setup.Allocator.Allocate<byte>(Block))];
        owners[0].Dispose();
        owners[2].Dispose();
        using (setup.Allocator.Allocate<byte>(2 * Block))
        {
            Assert.Equal(1, setup.Source.LiveAllocations);
        }

        owners[1].Dispose();
        using (setup.Allocator.Allocate<byte>(2 * Block))
        {
            Assert.Equal(0, setup.Source.LiveAllocations);
        }

        owners[3].Dispose();
    }

    [Fact]
    public void Rent_BlockThatAnotherThreadReturned_IsFoundBeforeNewMemoryIsTaken()
    {
        using TestSetup setup = new(maximumBlocks: 16);
        List<IMemoryOwner<byte>> owners = [.. Enumerable.Range(0, 8).Select(_ => setup.Allocator.Allocate<byte>(Block))];
        RunOnThreads(8, i => owners[i].Dispose());
        owners = [.. Enumerable.Range(0, 8).Select(_ => setup.Allocator.Allocate<byte>(Block))];
        Assert.Equal(8 * Block, setup.Statistics.PeakCommittedBytes);
        owners.ForEach(static owner => owner.Dispose());
    }

    [Theory]
    [InlineData(NativeMemoryKind.Heap)]
    [InlineData(NativeMemoryKind.HGlobal)]
    [InlineData(NativeMemoryKind.CoTaskMem)]
    public void Rent_FromAHeap_PoolsBlocksAndTakesRunsFromTheSystem(NativeMemoryKind kind)
    {
        using TestSetup setup = new(4, source: Allocator.Native.NativeMemorySource.Create(kind, HugePages.Auto));
        for (int i = 0; i < 3; i++)
        {
            using (IMemoryOwner<byte> block = setup.Allocator.Allocate<byte>(Block, AllocationOptions.Clean))
            using (MemoryGroup<byte> group = setup.Allocator.AllocateGroup<byte>(3 * Block))
            using (IMemoryOwner<byte> run = setup.Allocator.Allocate<byte>(3 * Block))
            {
                Assert.Equal(-1, block.Memory.Span.IndexOfAnyExcept((byte)0));
                block.Memory.Span.Fill(1);
                group.Fill(2);
                run.Memory.Span.Fill(3);
                Assert.Equal(-1, block.Memory.Span.IndexOfAnyExcept((byte)1));
                Assert.All(group, static member => Assert.Equal(-1, member.Span.IndexOfAnyExcept((byte)2)));
                Assert.Equal(7 * Block, setup.Statistics.CommittedBytes);
            }

            Assert.Equal(4 * Block, setup.Statistics.RetainedBytes);
            setup.Allocator.ReleaseRetainedResources();
            Assert.Equal((0, 0), (setup.Statistics.RetainedBytes, setup.Statistics.CommittedBytes));
        }
    }

    [Fact]
    public void Rent_ReservationRefused_IsHalvedAndTriedAgain()
    {
        using TestSetup setup = new(maximumBlocks: 64);
        setup.Source.Refuses = static kind => kind == "reserve";
        setup.Source.RefuseFrom = 1;
        setup.Source.RefuseCount = 3;
        using IMemoryOwner<byte> owner = setup.Allocator.Allocate<byte>(Block);
        Assert.Equal((1, 0, 0L), (setup.Source.LiveReservations, setup.Source.LiveAllocations, setup.Statistics.AllocationRetries));
        using MemoryGroup<byte> group = setup.Allocator.AllocateGroup<byte>(20 * Block);
        Assert.Equal(0, setup.Source.LiveAllocations);
    }

    // The canary: every renter writes its own number over its memory, and looks whether it is still there before giving it back.
    [Theory]
    [InlineData(3, false)]
    [InlineData(16, false)]
    [InlineData(16, true)]
    public async Task Rent_FromManyThreadsWithTrimming_NeverGivesMemoryToTwo(int maximumBlocks, bool pinned)
    {
        using TestSetup setup = new(maximumBlocks);
        int stamp = 0;
        int broken = 0;
        using CancellationTokenSource stop = new();
        Task trimmer = Task.Run(() =>
        {
            for (int i = 0; !stop.IsCancellationRequested; i++)
            {
                if (i % 2 == 0)
                {
                    setup.Allocator.ReleaseRetainedResources();
                }
                else
                {
                    setup.Pressure.IsHigh = i % 3 == 0;
                    setup.Clock.Advance(TimeSpan.FromMinutes(1));
                }

                Thread.Yield();
            }
        });
        RunOnThreads(8, thread =>
        {
            Random random = new(thread);
            for (int i = 0; i < 3000; i++)
            {
                int mine = Interlocked.Increment(ref stamp);
                AllocationOptions options = random.Next(4) == 0 ? AllocationOptions.Clean : AllocationOptions.None;
                int length = random.Next(3) switch { 0 => 600, 1 => Block / 4, _ => random.Next(1, 4 * Block / 4) };
                if (random.Next(3) == 0)
                {
                    using MemoryGroup<int> group = setup.Allocator.AllocateGroup<int>(length, 1, options);
                    group.Fill(mine);
                    Count(group.Any(member => member.Span.IndexOfAnyExcept(mine) >= 0));
                }
                else
                {
                    IMemoryOwner<int> owner = setup.Allocator.Allocate<int>(length, options);
                    MemoryHandle handle = pinned ? owner.Memory.Pin() : default;
                    Count(options == AllocationOptions.Clean && owner.Memory.Span.IndexOfAnyExcept(0) >= 0);
                    owner.Memory.Span.Fill(mine);
                    Thread.Yield();
                    Count(owner.Memory.Span.IndexOfAnyExcept(mine) >= 0);
                    owner.Dispose();
                    handle.Dispose();
                }
            }
        });
        stop.Cancel();
        await trimmer;

        Assert.Equal(0, broken);
        Assert.Equal(0, setup.Statistics.OutstandingAllocations);
        Assert.Equal((0L, setup.Statistics.RetainedBytes), (setup.Statistics.RentedBytes, setup.Statistics.CommittedBytes));
        Assert.Equal(0, setup.Source.LiveAllocations);
        Assert.Equal(24_000, setup.Statistics.Rents);
        setup.Allocator.ReleaseRetainedResources();
        Assert.Equal(0, setup.Statistics.CommittedBytes);

        void Count(bool isBroken)
        {
            if (isBroken)
            {
                Interlocked.Increment(ref broken);
            }
        }
    }

    [Fact]
    public void Dispose_WhileOthersRentAndReturn_LeavesNothingBehind()
    {
        for (int round = 0; round < 50; round++)
        {
            TestSetup setup = new(maximumBlocks: 8);
            RunOnThreads(4, thread =>
            {
                try
                {
                    for (int i = 0; i < 200; i++)
                    {
                        if (thread == 0 && i == 50)
                        {
                            setup.Allocator.Dispose();
                        }

                        using IMemoryOwner<byte> owner = setup.Allocator.Allocate<byte>(Block * (1 + i % 3));
                        owner.Memory.Span[0] = 1;
                    }
                }
                catch (ObjectDisposedException)
                {
                    // Expected from the moment of the Dispose.
                }
            });
            Assert.Equal((0L, 0L), (setup.Statistics.CommittedBytes, setup.Statistics.OutstandingAllocations));
            Assert.Equal((0, 0), (setup.Source.LiveReservations, setup.Source.LiveAllocations));
        }
    }

    private static void RunOnThreads(int count, Action<int> action)
    {
        Exception? failure = null;
        Thread[] threads = [.. Enumerable.Range(0, count).Select(i => new Thread(() =>
        {
            try
            {
                action(i);
            }
            catch (Exception e)
            {
                failure = e;
            }
        }))];
        Array.ForEach(threads, static thread => thread.Start());
        Array.ForEach(threads, static thread => thread.Join());
        Assert.Null(failure);
    }
}
