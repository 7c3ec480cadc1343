namespace Allocator.Tests.Allocators;

/// <summary>Requests of up to 1 MiB with an alignment that no array has.</summary>
public class SmallAlignedTests
{
    private const int Megabyte = 1 << 20;

    // A process may have 65,530 mappings: figures of the whole process, in one of its own.
    [SkippableFact]
    public void AllocateAligned_150000AliveAndEveryOtherFreed_TakesFewMappings()
    {
        Skip.IfNot(OperatingSystem.IsLinux(), "Needs Linux's figures of mappings.");
        RemoteExecutor.Invoke(
            static () =>
            {
                using MemoryAllocator allocator = Create();
                IMemoryOwner<byte>[] owners = new IMemoryOwner<byte>[150_000];
                for (int i = 0; i < owners.Length; i++)
                {
                    owners[i] = allocator.AllocateAligned<byte>(1 + i % 1024, 64 << (i % 3));
                }

                for (int i = 0; i < owners.Length; i += 2)
                {
                    owners[i].Dispose();
                }

                int mappings = Mappings();
                for (int i = 1; i < owners.Length; i += 2)
                {
                    owners[i].Dispose();
                }

                Assert.InRange(mappings, 1, 5_000);
                Assert.Equal((0, 0, 0), (allocator.GetStatistics().OutstandingAllocations, allocator.GetStatistics().CommittedBytes,
                    MemoryDiagnostics.RefusedUnmaps));
            },
            new RemoteInvokeOptions { TimeOut = 120_000 }).Dispose();
    }

    // With the alignment and the tail, as glibc counts. What is larger it maps itself, until one of these has been freed.
    [SkippableTheory]
    [InlineData(130_000, 64)]
    [InlineData(120_000, 4096)]
    [InlineData(60_000, 64 * 1024)]
    public void AllocateAligned_UpTo128KiB_SharesMappings(int length, int alignment)
    {
        Skip.IfNot(OperatingSystem.IsLinux(), "Needs Linux's figures of mappings.");
        RemoteExecutor.Invoke(
            static (length, alignment) =>
            {
                using MemoryAllocator allocator = Create();
                IMemoryOwner<byte>[] owners = new IMemoryOwner<byte>[2_000];
                int before = Mappings();
                for (int i = 0; i < owners.Length; i++)
                {
                    owners[i] = allocator.AllocateAligned<byte>(int.Parse(length), int.Parse(alignment));
                }

                for (int i = 0; i < owners.Length; i += 2)
                {
                    owners[i].Dispose();
                }

                Assert.InRange(Mappings() - before, -100, 200);
            },
            length.ToString(),
            alignment.ToString()).Dispose();
    }

    // Each arena of glibc keeps up to twice the largest mapping that any code has freed, and malloc_trim leaves the last free part there.
    [SkippableFact]
    public void AllocateAligned_UpTo1MiBUnderABudget_LeavesNothingInTheArenasOfMalloc()
    {
        Skip.IfNot(OperatingSystem.IsLinux(), "Needs Linux's figures of the resident set.");
        RemoteExecutor.Invoke(
            static () =>
            {
                using MemoryAllocator allocator = MemoryAllocator.Create(
                    new MemoryAllocatorOptions { MemoryBudgetMegabytes = 256, Safety = SafetyMode.Standard });

                // What a codec does.
                Marshal.FreeHGlobal(Marshal.AllocHGlobal(16 * Megabyte));
                using Barrier all = new(participantCount: 9);
                Thread[] threads = [.. Enumerable.Range(0, 8).Select(_ => new Thread(() => HoldFourAtOnce(allocator, all)))];
                foreach (Thread thread in threads)
                {
                    thread.Start();
                }

                all.SignalAndWait();
                long before = ResidentSet.Bytes;
                all.SignalAndWait();
                all.SignalAndWait();
                long held = ResidentSet.Bytes;
                all.SignalAndWait();
                all.SignalAndWait();
                NativeHeap.TryTrim();
                long after = ResidentSet.Bytes;
                all.SignalAndWait();
                foreach (Thread thread in threads)
                {
                    thread.Join();
                }

                Assert.Equal(0, allocator.GetStatistics().CommittedBytes);
                Assert.InRange(held - before, 24 * Megabyte, long.MaxValue);
                Assert.InRange(after - before, long.MinValue, 6 * Megabyte);
            }).Dispose();
    }

    [Fact]
    public void AllocateAligned_InSequence_AllocatesOnlyTheOwner()
    {
        using MemoryAllocator allocator = Create();
        long Allocated()
        {
            long before = GC.GetAllocatedBytesForCurrentThread();
            allocator.AllocateAligned<byte>(1000, 64).Dispose();
            return GC.GetAllocatedBytesForCurrentThread() - before;
        }

        Assert.True(Allocated() > 4 * IntPtr.Size);
        for (int i = 0; i < 10; i++)
        {
            Assert.Equal(4 * IntPtr.Size, Allocated());
        }

        Assert.Equal((11, 0, 0), (allocator.GetStatistics().Rents, allocator.GetStatistics().OutstandingAllocations,
            allocator.GetStatistics().CommittedBytes));
    }

    [Fact]
    public void AllocateAligned_ReusedGuardIsAbandoned_IsFound()
    {
        using MemoryAllocator allocator = Create();
        allocator.AllocateAligned<byte>(1000, 64).Dispose();
        Drop(allocator);
        for (int i = 0; i < 100 && allocator.GetStatistics().Abandoned == 0; i++)
        {
            QueuedWork.Collect();
        }

        Assert.Equal((1, 0), (allocator.GetStatistics().Abandoned, allocator.GetStatistics().OutstandingAllocations));
        allocator.AllocateAligned<byte>(1000, 64).Dispose();
        Assert.Equal(1, allocator.GetStatistics().Abandoned);
    }

    [Fact]
    public void AllocateAligned_OnManyThreads_GivesEachGuardToOneOfThem()
    {
        using MemoryAllocator allocator = Create();
        Parallel.For(0, 8, thread =>
        {
            for (int i = 0; i < 2000; i++)
            {
                using IMemoryOwner<byte> one = allocator.AllocateAligned<byte>(64, 64);
                using IMemoryOwner<byte> two = allocator.AllocateAligned<byte>(128, 128);
                one.Memory.Span.Fill((byte)thread);
                two.Memory.Span.Fill((byte)thread);
                Assert.Equal((64, 128), (one.Memory.Length, two.Memory.Length));
                Assert.Equal(-1, one.Memory.Span.IndexOfAnyExcept((byte)thread));
            }
        });
        MemoryAllocatorStatistics statistics = allocator.GetStatistics();
        Assert.Equal((32_000, 0, 0), (statistics.Rents, statistics.OutstandingAllocations, statistics.CommittedBytes));
    }

    [Theory]
    [InlineData(NativeMemoryKind.Virtual, 64)]
    [InlineData(NativeMemoryKind.Virtual, 64 * 1024)]
    [InlineData(NativeMemoryKind.Heap, 128 * 1024)]
    public void AllocateAligned_UpTo64KiBOrFromAHeap_DoesNotUseThePool(NativeMemoryKind kind, int alignment)
    {
        using MemoryAllocator allocator = Create(kind);
        using (allocator.AllocateAligned<byte>(100, alignment))
        {
            int expected = alignment == 64 ? 100 : 100 + alignment;
            Assert.Equal((expected, expected, 0, 0), (allocator.GetStatistics().CommittedBytes, allocator.GetStatistics().RentedBytes,
                allocator.GetStatistics().PoolHits, allocator.GetStatistics().PoolMisses));
        }

        Assert.Equal(
            (0, 0, 0),
            (allocator.GetStatistics().CommittedBytes, allocator.GetStatistics().RentedBytes, allocator.GetStatistics().RetainedBytes));
    }

    [Fact]
    public void AllocateAligned_Above64KiB_TakesABlockOfThePool()
    {
        using MemoryAllocator allocator = Create();
        for (int round = 1; round <= 3; round++)
        {
            using IMemoryOwner<byte> owner = allocator.AllocateAligned<byte>(100, Megabyte);
            MemoryAllocatorStatistics statistics = allocator.GetStatistics();
            Assert.Equal((4 * Megabyte, 4 * Megabyte), (statistics.CommittedBytes, statistics.RentedBytes));
            Assert.Equal((round, round - 1, 1), (statistics.Rents, statistics.PoolHits, statistics.PoolMisses));
        }

        Assert.Equal(4 * Megabyte, allocator.GetStatistics().RetainedBytes);
    }

    [Fact]
    public void AllocateAligned_Above64KiBWithThePoolInUse_TakesTheHeap()
    {
        using MemoryAllocator allocator = MemoryAllocator.Create(
            new MemoryAllocatorOptions { MaximumPoolSizeMegabytes = 4, Safety = SafetyMode.Standard });
        using IMemoryOwner<byte> pool = allocator.Allocate<byte>(4 * Megabyte);
        using IMemoryOwner<byte> owner = allocator.AllocateAligned<byte>(100, Megabyte, AllocationOptions.Clean);
        Assert.Equal(0, GuardedSetup.AddressOf(owner) % Megabyte);
        Assert.Equal((4 * Megabyte + 100 + Megabyte, 1), (allocator.GetStatistics().CommittedBytes, allocator.GetStatistics().PoolMisses));
    }

    [Theory]
    [InlineData(64, 1000)]
    [InlineData(4096, 1000)]
    [InlineData(Megabyte, 4 * Megabyte)]
    public void AllocateAligned_WithABudget_ChargesWhatItTakes(int alignment, long expected)
    {
        using MemoryAllocator allocator = MemoryAllocator.Create(
            new MemoryAllocatorOptions { MemoryBudgetMegabytes = 8, MaximumPoolSizeMegabytes = 8, Safety = SafetyMode.Standard });
        using (allocator.AllocateAligned<byte>(1000, alignment))
        {
            Assert.InRange(allocator.GetStatistics().BudgetUsedBytes, expected, expected + alignment);
            Assert.Equal(allocator.GetStatistics().BudgetUsedBytes, allocator.GetStatistics().CommittedBytes);
        }

        Assert.Equal(0, allocator.GetStatistics().BudgetUsedBytes);
    }

    [Fact]
    public void AllocateAligned_CleanAfterAWrite_IsZero()
    {
        using MemoryAllocator allocator = Create();
        for (int round = 0; round < 20; round++)
        {
            using IMemoryOwner<byte> clean = allocator.AllocateAligned<byte>(5000, 64, AllocationOptions.Clean);
            Assert.Equal(-1, clean.Memory.Span.IndexOfAnyExcept((byte)0));
            clean.Memory.Span.Fill(0xFF);
        }
    }

    // A heap hands on what it gets as it is.
    [Fact]
    public void Dispose_WithClearOnReturn_ReturnsZeroedMemoryToTheHeap()
    {
        LookingHeap heap = new();
        using TestSetup setup = new(
            options: new MemoryAllocatorOptions { ClearOnReturn = true, Safety = SafetyMode.Standard }, smallSource: heap);
        IMemoryOwner<byte> owner = setup.Allocator.AllocateAligned<byte>(500, 64);
        owner.Memory.Span.Fill(1);
        owner.Dispose();
        Assert.Equal((1, 0), (heap.Frees, heap.DirtyBytes));
    }

    private static MemoryAllocator Create(NativeMemoryKind kind = NativeMemoryKind.Virtual) =>
        MemoryAllocator.Create(
            new MemoryAllocatorOptions { NativeMemory = kind, MaximumPoolSizeMegabytes = 64, Safety = SafetyMode.Standard });

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void Drop(MemoryAllocator allocator) => allocator.AllocateAligned<byte>(1000, 64);

    private static void HoldFourAtOnce(MemoryAllocator allocator, Barrier all)
    {
        allocator.AllocateAligned<byte>(1000, 64).Dispose();
        all.SignalAndWait();
        all.SignalAndWait();
        IMemoryOwner<byte>[] owners = new IMemoryOwner<byte>[4];
        for (int i = 0; i < owners.Length; i++)
        {
            owners[i] = allocator.AllocateAligned<byte>(Megabyte, 64);
            owners[i].Memory.Span.Fill(1);
        }

        all.SignalAndWait();
        all.SignalAndWait();
        foreach (IMemoryOwner<byte> owner in owners)
        {
            owner.Dispose();
        }

        all.SignalAndWait();
        all.SignalAndWait();
    }

    private static int Mappings() => File.ReadLines("/proc/self/maps").Count();

    private sealed class LookingHeap : NativeMemorySource
    {
        private readonly HeapMemorySource _heap = HeapMemorySource.OfCHeap();

        public LookingHeap()
            : base(overreadToleranceInBytes: 0)
        {
        }

        public int Frees { get; private set; }

        public int DirtyBytes { get; private set; }

        public override long RoundUp(long lengthInBytes) => lengthInBytes;

        public override nint TryAllocate(long lengthInBytes, int alignmentInBytes, out bool zeroed) =>
            _heap.TryAllocate(lengthInBytes, alignmentInBytes, out zeroed);

        public override unsafe void Free(nint address, long lengthInBytes)
        {
            Frees++;
            foreach (byte value in new Span<byte>((void*)address, (int)lengthInBytes))
            {
                DirtyBytes += value == 0 ? 0 : 1;
            }

            _heap.Free(address, lengthInBytes);
        }
    }
}
