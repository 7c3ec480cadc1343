namespace Allocator.Tests;

public class PixelBufferTests
{
    [StructLayout(LayoutKind.Sequential, Size = 3, Pack = 1)]
    private struct Rgb
    {
        public byte R;
        public byte G;
        public byte B;
    }

    // Width x height: one array, one block, several blocks, rows longer than a block, longer than a segment, more than the pool.
    public static TheoryData<int, int> Sizes => new()
    {
        { 10, 10 }, { 100, 40 }, { 1000, 50 }, { 5000, 9 }, { 40_000, 3 }, { 1000, 1000 }, { 1, 30_000 }, { 30_000, 1 },
    };

    [Theory]
    [MemberData(nameof(Sizes))]
    public void ProcessPixelRows_AnySize_ReachesEveryRowOnce(int width, int height)
    {
        using TestSetup setup = new();
        foreach (AllocationOptions options in (AllocationOptions[])[AllocationOptions.Clean, AllocationOptions.Contiguous])
        {
            using PixelBuffer<int> pixels = setup.Allocator.AllocatePixels<int>(width, height, options);
            Assert.Equal((width, height, width), (pixels.Width, pixels.Height, pixels.RowStride));
            pixels.ProcessPixelRows(static rows =>
            {
                for (int y = 0; y < rows.Height; y++)
                {
                    Assert.Equal(rows.Width, rows.GetRowSpan(y).Length);
                    rows.GetRowSpan(y).Fill(y);
                }
            });
            pixels.ProcessPixelRows(static rows =>
            {
                for (int y = rows.Height - 1; y >= 0; y--)
                {
                    Assert.Equal(-1, rows.GetRowSpan(y).IndexOfAnyExcept(y));
                }
            });
            for (int y = 0; y < height; y++)
            {
                Assert.Equal(y, pixels.DangerousGetRowSpan(y)[width - 1]);
            }
        }

        Assert.Equal(0, setup.Statistics.OutstandingAllocations);
    }

    [Theory]
    [InlineData(1)]
    [InlineData(64)]
    [InlineData(4096)]
    public void AllocatePixels_RowAlignment_HoldsForEveryRow(int alignment)
    {
        using MemoryAllocator allocator = MemoryAllocator.Create(new MemoryAllocatorOptions { MaximumPoolSizeMegabytes = 16 });
        foreach ((int width, int height) in (ReadOnlySpan<(int, int)>)[(5, 7), (1001, 900), (3001, 3001), (6000, 6000)])
        {
            using PixelBuffer<Rgb> pixels = allocator.AllocatePixels<Rgb>(width, height, rowAlignmentInBytes: alignment);
            AssertRowsAligned(pixels, alignment);
        }
    }

    // At once, and after a wait for the budget.
    [Theory]
    [InlineData(1)]
    [InlineData(64)]
    [InlineData(4096)]
    public async Task AllocatePixelsAsync_RowAlignment_HoldsForEveryRow(int alignment)
    {
        using MemoryAllocator allocator = MemoryAllocator.Create(new MemoryAllocatorOptions { MemoryBudgetMegabytes = 16 });
        MemoryReservation others = await allocator.ReserveAsync(16 << 20);
        ValueTask<PixelBuffer<Rgb>> waiting = allocator.AllocatePixelsAsync<Rgb>(1200, 300, rowAlignmentInBytes: alignment);
        Assert.False(waiting.IsCompleted);
        others.Dispose();
        using PixelBuffer<Rgb> waited = await waiting;
        using PixelBuffer<Rgb> atOnce = await allocator.AllocatePixelsAsync<Rgb>(1200, 300, rowAlignmentInBytes: alignment);
        AssertRowsAligned(waited, alignment);
        AssertRowsAligned(atOnce, alignment);
    }

    [Fact]
    public void GetRowSpan_OutOfRange_Throws()
    {
        using TestSetup setup = new();
        using PixelBuffer<int> pixels = setup.Allocator.AllocatePixels<int>(10, 20);
        pixels.ProcessPixelRows(static rows =>
        {
            bool threw = false;
            try
            {
                rows.GetRowSpan(20);
            }
            catch (ArgumentOutOfRangeException)
            {
                threw = true;
            }

            Assert.True(threw);
        });
        Assert.Throws<ArgumentOutOfRangeException>("y", () => { pixels.DangerousGetRowSpan(-1); });
        Assert.Throws<ArgumentOutOfRangeException>("y", () => { pixels.DangerousGetRowSpan(20); });
    }

    [Fact]
    public void ProcessPixelRows_DisposedInsideTheDelegate_CompletesAndReturnsOnce()
    {
        using TestSetup setup = new();
        PixelBuffer<int> pixels = setup.Allocator.AllocatePixels<int>(1000, 50);
        pixels.ProcessPixelRows(rows =>
        {
            pixels.Dispose();
            pixels.Dispose();
            using PixelBuffer<int> other = setup.Allocator.AllocatePixels<int>(1000, 50);
            other.ProcessPixelRows(static others => others.GetRowSpan(0).Fill(1));
            rows.GetRowSpan(49).Fill(2);
            Assert.Equal(2, setup.Statistics.OutstandingAllocations);
        });

        Assert.Equal(0, setup.Statistics.OutstandingAllocations);
        Assert.Equal(setup.Statistics.CommittedBytes, setup.Statistics.RetainedBytes);
        Assert.Throws<ObjectDisposedException>(() => pixels.ProcessPixelRows(static _ => { }));
    }

    [Fact]
    public async Task ProcessPixelRows_DisposedByAnotherThread_CompletesOnValidMemory()
    {
        using TestSetup setup = new();
        PixelBuffer<int> pixels = setup.Allocator.AllocatePixels<int>(1000, 50);
        using ManualResetEventSlim inside = new();
        using ManualResetEventSlim disposed = new();
        Task worker = Task.Run(() => pixels.ProcessPixelRows(rows =>
        {
            rows.GetRowSpan(0).Fill(5);
            inside.Set();
            disposed.Wait();
            Assert.Equal(-1, rows.GetRowSpan(0).IndexOfAnyExcept(5));
        }));
        inside.Wait();
        pixels.Dispose();
        using (PixelBuffer<int> other = setup.Allocator.AllocatePixels<int>(1000, 50, AllocationOptions.Clean))
        {
            disposed.Set();
            await worker;
        }

        Assert.Equal(0, setup.Statistics.OutstandingAllocations);
    }

    [Fact]
    public void ProcessPixelRows_DelegateThrows_EndsTheUse()
    {
        using TestSetup setup = new();
        PixelBuffer<int> pixels = setup.Allocator.AllocatePixels<int>(1000, 50);
        Assert.Throws<InvalidTimeZoneException>(() => pixels.ProcessPixelRows(static _ => throw new InvalidTimeZoneException()));
        Assert.Throws<InvalidTimeZoneException>(
            () => pixels.ProcessPixelRows(pixels, static (_, _) => throw new InvalidTimeZoneException()));
        Assert.IsType<InvalidTimeZoneException>(
            Assert.Throws<AggregateException>(
                () => pixels.ProcessPixelRowsInParallel(static _ => throw new InvalidTimeZoneException(), 1)).InnerException);
        pixels.Dispose();
        Assert.Equal(0, setup.Statistics.OutstandingAllocations);
    }

    [Theory]
    [InlineData(0)]
    [InlineData(1)]
    [InlineData(2)]
    public void ProcessPixelRows_OneOfThreeDisposed_ThrowsAndLeavesNoReference(int disposed)
    {
        using TestSetup setup = new(maximumBlocks: 32);
        PixelBuffer<int>[] buffers = [.. Enumerable.Range(0, 3).Select(_ => setup.Allocator.AllocatePixels<int>(1000, 20))];
        buffers[disposed].Dispose();
        Assert.Throws<ObjectDisposedException>(() => buffers[0].ProcessPixelRows(buffers[1], buffers[2], static (_, _, _) => { }));
        if (disposed < 2)
        {
            Assert.Throws<ObjectDisposedException>(() => buffers[0].ProcessPixelRows(buffers[1], static (_, _) => { }));
        }

        Array.ForEach(buffers, static buffer => buffer.Dispose());
        Assert.Equal(0, setup.Statistics.OutstandingAllocations);
    }

    [Fact]
    public void ProcessPixelRows_SecondAndThirdDisposedInside_AreReturnedAfterwards()
    {
        using TestSetup setup = new(maximumBlocks: 32);
        PixelBuffer<int> a = setup.Allocator.AllocatePixels<int>(1000, 20);
        PixelBuffer<byte> b = setup.Allocator.AllocatePixels<byte>(1000, 100);
        PixelBuffer<Rgb> c = setup.Allocator.AllocatePixels<Rgb>(1000, 50);
        a.ProcessPixelRows(b, c, (rowsA, rowsB, rowsC) =>
        {
            b.Dispose();
            c.Dispose();
            a.Dispose();
            rowsA.GetRowSpan(19).Fill(1);
            rowsB.GetRowSpan(99).Fill(2);
            rowsC.GetRowSpan(49).Fill(default);
            Assert.Equal(3, setup.Statistics.OutstandingAllocations);
        });
        Assert.Equal(0, setup.Statistics.OutstandingAllocations);
    }

    [Fact]
    public void ProcessPixelRows_SameBufferTwice_IsAllowed()
    {
        using TestSetup setup = new();
        using PixelBuffer<int> pixels = setup.Allocator.AllocatePixels<int>(10, 10, AllocationOptions.Clean);
        pixels.ProcessPixelRows(pixels, static (one, same) => one.GetRowSpan(3)[4] = same.GetRowSpan(4)[3] + 1);
        Assert.Equal(1, pixels.DangerousGetRowSpan(3)[4]);
    }

    [Theory]
    [InlineData(-1)]
    [InlineData(1)]
    [InlineData(3)]
    [InlineData(1000)]
    public void ProcessPixelRowsInParallel_AnyDegree_GivesEveryRowToOneBand(int degree)
    {
        using TestSetup setup = new(maximumBlocks: 64);
        using PixelBuffer<int> pixels = setup.Allocator.AllocatePixels<int>(300, 101, AllocationOptions.Clean);
        int bands = 0;
        pixels.ProcessPixelRowsInParallel(
            rows =>
            {
                Interlocked.Increment(ref bands);
                for (int y = 0; y < rows.Height; y++)
                {
                    foreach (ref int pixel in rows.GetRowSpan(y))
                    {
                        pixel += 1000 + rows.FirstRow + y;
                    }
                }
            },
            degree);

        Assert.Equal(Math.Min(101, degree == -1 ? Environment.ProcessorCount : degree), bands);
        for (int y = 0; y < 101; y++)
        {
            Assert.Equal(-1, pixels.DangerousGetRowSpan(y).IndexOfAnyExcept(1000 + y));
        }

        Assert.Throws<ArgumentOutOfRangeException>("maxDegreeOfParallelism", () => pixels.ProcessPixelRowsInParallel(static _ => { }, 0));
        Assert.Throws<ArgumentOutOfRangeException>("maxDegreeOfParallelism", () => pixels.ProcessPixelRowsInParallel(static _ => { }, -2));
    }

    // They may wait for the very memory of this image.
    [Fact]
    public void ProcessPixelRowsInParallel_AllThreadsOfThePoolAreBlocked_IsDoneByTheCaller() =>
        RemoteExecutor.Invoke(static () =>
        {
            using TestSetup setup = new();
            using PixelBuffer<int> pixels = setup.Allocator.AllocatePixels<int>(100, 40);
            using ManualResetEventSlim end = new();
            QueuedWork.BlockThreadPool(end);
            int rows = 0;
            Thread caller = new(() => pixels.ProcessPixelRowsInParallel(band => Interlocked.Add(ref rows, band.Height), 4));
            caller.Start();
            bool isDone = caller.Join(TimeSpan.FromSeconds(20));
            end.Set();
            caller.Join();
            Assert.Equal((true, 40), (isDone, rows));
        }).Dispose();

    [Theory]
    [InlineData(-1)]
    [InlineData(3)]
    [InlineData(1000)]
    public void ProcessPixelRowsInParallel_WithAnother_GivesEachBandAllItsRows(int degree)
    {
        using TestSetup setup = new(maximumBlocks: 64);
        using PixelBuffer<int> source = setup.Allocator.AllocatePixels<int>(200, 53);
        source.ProcessPixelRows(static rows =>
        {
            for (int y = 0; y < rows.Height; y++)
            {
                rows.GetRowSpan(y).Fill(y + 1);
            }
        });
        using PixelBuffer<byte> mirrored = setup.Allocator.AllocatePixels<byte>(300, 106, AllocationOptions.Clean);
        mirrored.ProcessPixelRowsInParallel(
            source,
            static (band, all) =>
            {
                for (int y = 0; y < band.Height; y++)
                {
                    band.GetRowSpan(y).Fill((byte)all.GetRowSpan((105 - band.FirstRow - y) / 2)[199]);
                }
            },
            degree);

        for (int y = 0; y < 106; y++)
        {
            Assert.Equal(-1, mirrored.DangerousGetRowSpan(y).IndexOfAnyExcept((byte)((105 - y) / 2 + 1)));
        }

        Assert.Throws<ArgumentOutOfRangeException>(
            "maxDegreeOfParallelism", () => mirrored.ProcessPixelRowsInParallel(source, static (_, _) => { }, 0));
        Assert.Throws<ArgumentNullException>("other", () => mirrored.ProcessPixelRowsInParallel<int>(null!, static (_, _) => { }));
    }

    [Fact]
    public void ProcessPixelRowsInParallel_BothDisposedByADelegate_KeepTheirMemoryUntilAllReturn()
    {
        using TestSetup setup = new(maximumBlocks: 64);
        PixelBuffer<int> source = setup.Allocator.AllocatePixels<int>(1000, 50);
        PixelBuffer<int> target = setup.Allocator.AllocatePixels<int>(1000, 50);
        source.Fill(5);
        target.ProcessPixelRowsInParallel(
            source,
            (band, all) =>
            {
                source.Dispose();
                target.Dispose();
                Assert.Equal(2, setup.Allocator.GetStatistics().OutstandingAllocations);
                for (int y = 0; y < band.Height; y++)
                {
                    Assert.Equal(-1, all.GetRowSpan(band.FirstRow + y).IndexOfAnyExcept(5));
                }
            },
            maxDegreeOfParallelism: 4);

        Assert.Equal(0, setup.Allocator.GetStatistics().OutstandingAllocations);
        Assert.Throws<ObjectDisposedException>(() => target.ProcessPixelRowsInParallel(source, static (_, _) => { }));
    }

    [Theory]
    [InlineData(AllocationOptions.None, 1)]
    [InlineData(AllocationOptions.None, 64)]
    [InlineData(AllocationOptions.Contiguous, 1)]
    [InlineData(AllocationOptions.Contiguous, 64)]
    public void Fill_AnyLayout_WritesAllPixelsAndNothingBetweenRows(AllocationOptions options, int rowAlignment)
    {
        using TestSetup setup = new(maximumBlocks: 64);
        using PixelBuffer<Rgb> pixels = setup.Allocator.AllocatePixels<Rgb>(333, 70, options | AllocationOptions.Clean, rowAlignment);
        pixels.Fill(new Rgb { R = 1, G = 2, B = 3 });
        for (int y = 0; y < 70; y++)
        {
            foreach (Rgb pixel in pixels.DangerousGetRowSpan(y))
            {
                Assert.Equal((1, 2, 3), (pixel.R, pixel.G, pixel.B));
            }
        }

        if (rowAlignment > 1 && pixels.DangerousTryGetSingleMemory(out Memory<Rgb> all))
        {
            Assert.Equal(0, all.Span[333].G);
        }
    }

    [Fact]
    public void TryProcessSinglePixelSpan_OnlyWherePixelsAreOneSpan_CallsTheDelegate()
    {
        using TestSetup setup = new();
        using PixelBuffer<byte> contiguous = setup.Allocator.AllocatePixels<byte>(1000, 50, AllocationOptions.Contiguous);
        using PixelBuffer<byte> several = setup.Allocator.AllocatePixels<byte>(1000, 50);
        using PixelBuffer<byte> padded = setup.Allocator.AllocatePixels<byte>(1000, 50, AllocationOptions.Contiguous, 64);

        int length = 0;
        Assert.True(contiguous.TryProcessSinglePixelSpan(pixels => length = pixels.Length));
        Assert.Equal(50_000, length);
        Assert.False(several.TryProcessSinglePixelSpan(static _ => Assert.Fail("called")));
        Assert.False(padded.TryProcessSinglePixelSpan(static _ => Assert.Fail("called")));

        Assert.True(contiguous.DangerousTryGetSingleMemory(out Memory<byte> memory));
        Assert.Equal(50_000, memory.Length);
        Assert.True(padded.DangerousTryGetSingleMemory(out memory));
        Assert.Equal(padded.RowStride * 50, memory.Length);
        Assert.False(several.DangerousTryGetSingleMemory(out _));
    }

    [Fact]
    public void Members_AfterDispose_Throw()
    {
        using TestSetup setup = new();
        foreach (int height in (int[])[1, 16, 200])
        {
            PixelBuffer<byte> pixels = setup.Allocator.AllocatePixels<byte>(1000, height);
            using PixelBuffer<byte> other = setup.Allocator.AllocatePixels<byte>(1000, height);
            Memory<byte> memory = pixels.DangerousTryGetSingleMemory(out Memory<byte> single)
                ? single
                : other.DangerousTryGetSingleMemory(out single)
                ? single
                : default;
            pixels.Dispose();
            using PixelBuffer<byte> next = setup.Allocator.AllocatePixels<byte>(1000, height);

            Assert.Throws<ObjectDisposedException>(() => { pixels.DangerousGetRowSpan(0); });
            Assert.Throws<ObjectDisposedException>(() => pixels.DangerousTryGetSingleMemory(out _));
            Assert.Throws<ObjectDisposedException>(() => pixels.TryProcessSinglePixelSpan(static _ => { }));
            Assert.Throws<ObjectDisposedException>(() => pixels.ProcessPixelRows(static _ => { }));
            Assert.Equal(
                nameof(PixelBuffer<>),
                Assert.Throws<ObjectDisposedException>(() => pixels.ProcessPixelRows(static (_, _) => { }, 1)).ObjectName);
            Assert.Throws<ObjectDisposedException>(() => pixels.ProcessPixelRowsInParallel(static _ => { }));
            Assert.Throws<ObjectDisposedException>(() => other.CopyTo(pixels));
            Assert.Throws<ObjectDisposedException>(() => pixels.Clone());
            Assert.Throws<ObjectDisposedException>(pixels.Clear);
            Assert.Throws<ObjectDisposedException>(() => pixels.Fill(1));
        }
    }

    [Fact]
    public void Clone_AnyLayout_CopiesPixelsAndKeepsStrideAndContiguity()
    {
        using TestSetup setup = new(maximumBlocks: 32);
        foreach (AllocationOptions options in (AllocationOptions[])[AllocationOptions.None, AllocationOptions.Contiguous])
        {
            using PixelBuffer<Rgb> source = setup.Allocator.AllocatePixels<Rgb>(333, 70, options, 64);
            source.ProcessPixelRows(static rows =>
            {
                for (int y = 0; y < rows.Height; y++)
                {
                    rows.GetRowSpan(y).Fill(new Rgb { R = (byte)y, G = 1, B = (byte)(y * 3) });
                }
            });
            using PixelBuffer<Rgb> clone = source.Clone();
            source.Clear();
            Assert.Equal((source.RowStrideInBytes, source.IsContiguous), (clone.RowStrideInBytes, clone.IsContiguous));
            Assert.Equal(
                (69, 1, 207),
                (clone.DangerousGetRowSpan(69)[332].R, clone.DangerousGetRowSpan(69)[332].G, clone.DangerousGetRowSpan(69)[332].B));
            Assert.Equal(0, source.DangerousGetRowSpan(69)[332].G);
        }
    }

    [Fact]
    public void GetRowSpan_ManyBlocks_AllocatesNothing()
    {
        using TestSetup setup = new();
        using PixelBuffer<int> pixels = setup.Allocator.AllocatePixels<int>(1000, 50);
        long allocated = -1;
        pixels.ProcessPixelRows(rows =>
        {
            rows.GetRowSpan(0).Clear();
            long before = GC.GetAllocatedBytesForCurrentThread();
            for (int y = 0; y < rows.Height; y++)
            {
                rows.GetRowSpan(y)[0] = y;
            }

            allocated = GC.GetAllocatedBytesForCurrentThread() - before;
        });
        Assert.Equal(0, allocated);
    }

    [Fact]
    public void AllocatePixels_MoreThanTwoGibibytes_ReachesRowsBeyondThat()
    {
        using MemoryAllocator allocator = MemoryAllocator.Create(new MemoryAllocatorOptions { MaximumPoolSizeMegabytes = 0 });
        using PixelBuffer<byte> pixels = allocator.AllocatePixels<byte>(50_000, 50_000, AllocationOptions.Contiguous);
        Assert.True(pixels.IsContiguous);
        Assert.False(pixels.TryProcessSinglePixelSpan(static _ => { }));
        pixels.ProcessPixelRows(static rows =>
        {
            for (int y = 0; y < rows.Height; y += 49)
            {
                rows.GetRowSpan(y)[49_999] = (byte)y;
            }

            for (int y = 0; y < rows.Height - 1; y += 49)
            {
                Assert.Equal((byte)y, rows.GetRowSpan(y)[49_999]);
                Assert.Equal((nint)50_000, Unsafe.ByteOffset(ref rows.GetRowSpan(y)[0], ref rows.GetRowSpan(y + 1)[0]));
            }
        });
    }

    [Theory]
    [InlineData(64, false)]
    [InlineData(60, false)]
    [InlineData(64, true)]
    [InlineData(60, true)]
    public void GetRowSpan_BlocksInARowOrScattered_ReachesEveryRowOnce(int width, bool scattered)
    {
        // Rows that fill a block and rows that leave a gap; blocks side by side and blocks with others between them.
        using TestSetup setup = new(maximumBlocks: 32);
        IMemoryOwner<byte>[] blocks = [.. Enumerable.Range(0, 32).Select(_ => setup.Allocator.Allocate<byte>(TestSetup.BlockSize))];
        for (int i = 0; i < blocks.Length; i++)
        {
            if (!scattered || i % 3 != 0)
            {
                blocks[i].Dispose();
            }
        }

        using PixelBuffer<int> buffer = setup.Allocator.AllocatePixels<int>(width, 500);
        Assert.False(buffer.IsContiguous);
        buffer.ProcessPixelRows(static rows =>
        {
            for (int y = 0; y < rows.Height; y++)
            {
                rows.GetRowSpan(y).Fill(y);
            }
        });
        buffer.ProcessPixelRows(static rows =>
        {
            for (int y = 0; y < rows.Height; y++)
            {
                Assert.Equal(rows.Width, rows.GetRowSpan(y).Length);
                Assert.Equal(-1, rows.GetRowSpan(y).IndexOfAnyExcept(y));
            }
        });
        for (int y = 0; y < buffer.Height; y += 7)
        {
            Assert.Equal(-1, buffer.DangerousGetRowSpan(y).IndexOfAnyExcept(y));
        }

        Assert.Equal(0, setup.Statistics.PoolMisses - 32);
        for (int i = 0; i < blocks.Length; i++)
        {
            blocks[i].Dispose();
        }
    }

    [Fact]
    public void AllocatePixels_AdjacentBlocks_AllocatesTheSameForAnyNumber()
    {
        using TestSetup setup = new(maximumBlocks: 32);
        setup.Allocator.AllocatePixels<int>(60, 2000).Dispose();
        Assert.Equal(BytesFor(setup, 200), BytesFor(setup, 2000));
    }

    // The buffer, its group, and, where the blocks lie apart, one array of addresses.
    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void AllocatePixels_ManyBlocks_AllocatesAtMostThreeObjects(bool scattered)
    {
        const int Count = 14;
        using TestSetup setup = new(maximumBlocks: 32);
        IMemoryOwner<byte>[] blocks = [.. Enumerable.Range(0, 32).Select(_ => setup.Allocator.Allocate<byte>(TestSetup.BlockSize))];
        foreach (IMemoryOwner<byte> block in blocks.Where((_, i) => !scattered || i % 2 == 0))
        {
            block.Dispose();
        }

        setup.Allocator.AllocatePixels<int>(60, 900).Dispose();
        long before = GC.GetAllocatedBytesForCurrentThread();
        PixelBuffer<int> pixels = setup.Allocator.AllocatePixels<int>(60, 900);
        long allocated = GC.GetAllocatedBytesForCurrentThread() - before;

        Assert.Contains($"{Count} blocks", pixels.ToString(), StringComparison.Ordinal);
        long origins = scattered ? IntPtr.Size * (3 + Count) : 0;
        Assert.Equal(SizeOf<PixelBuffer<int>>() + SizeOf<MemoryGroup<int>>() + origins, allocated);
        pixels.Dispose();
        Array.ForEach(blocks, static block => block.Dispose());
    }

    private static unsafe void AssertRowsAligned(PixelBuffer<Rgb> pixels, int alignment)
    {
        Assert.Equal((pixels.Width * 3 + alignment - 1) / alignment * alignment, pixels.RowStrideInBytes);
        pixels.ProcessPixelRows(
            static (rows, alignment) =>
            {
                for (int y = 0; y < rows.Height; y++)
                {
                    fixed (Rgb* row = rows.GetRowSpan(y))
                    {
                        Assert.Equal(0, (nint)row % Math.Min(alignment, 4096));
                    }
                }
            },
            alignment);
    }

    private static long SizeOf<T>()
    {
        RuntimeHelpers.GetUninitializedObject(typeof(T));
        long before = GC.GetAllocatedBytesForCurrentThread();
        RuntimeHelpers.GetUninitializedObject(typeof(T));
        return GC.GetAllocatedBytesForCurrentThread() - before;
    }

    private static long BytesFor(TestSetup setup, int height)
    {
        setup.Allocator.AllocatePixels<int>(60, height).Dispose();
        long before = GC.GetAllocatedBytesForCurrentThread();
        setup.Allocator.AllocatePixels<int>(60, height).Dispose();
        return GC.GetAllocatedBytesForCurrentThread() - before;
    }
}
