using CsCheck;

namespace Allocator.Tests;

/// <summary>Views that share the ownership of pixels and groups: crops, bytes, other types, and rows as memory.</summary>
public class PixelViewTests
{
    public static TheoryData<int, int> Sizes => new() { { 10, 7 }, { 60, 60 }, { 1000, 50 }, { 5000, 40 } };

    [Fact]
    public void Views_AnyPartOfAnyBuffer_ShowThosePixelsAndKeepTheMemory() =>
        Gen.Select(Gen.Int[1, 300], Gen.Int[1, 60], Gen.Int[0, 5], Gen.Int[0, int.MaxValue], Gen.Bool).Sample(
            static (width, height, kind, seed, isGuarded) =>
            {
                Random random = new(seed);
                using TestSetup setup = new(
                    maximumBlocks: 64, new MemoryAllocatorOptions { Safety = isGuarded ? SafetyMode.Guarded : SafetyMode.Standard });
                int stride = width * 4 + (kind & 1);
                byte[] array = new byte[stride * height];
                int released = 0;
                PixelBuffer<int> pixels = kind < 2
                    ? setup.Allocator.WrapPixels<int>(array, width, height, kind == 0 ? stride : -stride, () => released++)
                    : setup.Allocator.AllocatePixels<int>(
                        width, height, kind < 4 ? AllocationOptions.None : AllocationOptions.Contiguous, 1 << kind);
                Number(pixels);

                int x = random.Next(width);
                int y = random.Next(height);
                PixelBuffer<int> crop = pixels.Crop(x, y, 1 + random.Next(width - x), 1 + random.Next(height - y));
                PixelBuffer<int> inner = crop.Crop(crop.Width / 2, crop.Height / 2, (crop.Width + 1) / 2, (crop.Height + 1) / 2);
                PixelBuffer<byte> bytes = inner.AsBytes();
                PixelBuffer<uint> cast = crop.Cast<uint>();
                IDisposable[] all = [pixels, crop, inner, bytes, cast];
                random.Shuffle(all);
                for (int i = 0; i < all.Length; i++)
                {
                    IDisposable[] ended = all[..i];
                    Assert.Equal(0, released);
                    Assert.Equal(kind < 2 ? 0 : 1, setup.Statistics.OutstandingAllocations);
                    for (int row = 0; row < inner.Height; row++)
                    {
                        int first = (y + crop.Height / 2 + row) * 1000 + x + crop.Width / 2;
                        int[] expected = [.. Enumerable.Range(first, inner.Width)];
                        AssertRow(inner, ended, row, expected);
                        AssertRow(bytes, ended, row, MemoryMarshal.AsBytes(expected.AsSpan()).ToArray());
                    }

                    for (int row = 0; row < crop.Height; row++)
                    {
                        AssertRow(cast, ended, row, [.. Enumerable.Range((y + row) * 1000 + x, crop.Width).Select(static p => (uint)p)]);
                    }

                    if (Array.IndexOf<IDisposable>(ended, crop) < 0)
                    {
                        using PixelBuffer<int> clone = crop.Clone();
                        Assert.Equal((crop.Width, crop.Height), (clone.Width, clone.Height));
                        Assert.True(kind != 2 || clone.RowStrideInBytes == clone.Width * 4);
                        AssertRow(
                            clone, ended, crop.Height - 1, [.. Enumerable.Range((y + crop.Height - 1) * 1000 + x, crop.Width)]);
                    }

                    all[i].Dispose();
                    all[i].Dispose();
                }

                Assert.Equal(kind < 2 ? 1 : 0, released);
                Assert.Equal(0, setup.Statistics.OutstandingAllocations);
                Assert.True(isGuarded || setup.AllIsIdle);
            });

    [Fact]
    public void Crop_DisposedInItsDelegate_KeepsTheMemoryUntilTheEnd()
    {
        using TestSetup setup = new();
        PixelBuffer<int> pixels = setup.Allocator.AllocatePixels<int>(1000, 20);
        PixelBuffer<int> crop = pixels.Crop(500, 10, 100, 10);
        pixels.Dispose();
        crop.ProcessPixelRows(rows =>
        {
            crop.Dispose();
            Assert.Equal((0, 100, 10, 4000), (rows.FirstRow, rows.Width, rows.Height, rows.RowStrideInBytes));
            rows.GetRowSpan(9).Fill(3);
            Assert.Equal(1, setup.Statistics.OutstandingAllocations);
        });
        Assert.Equal(0, setup.Statistics.OutstandingAllocations);
    }

    [Fact]
    public void Crop_TilesOfManyThreads_ReturnTheMemoryOnce()
    {
        using TestSetup setup = new(maximumBlocks: 64);
        for (int round = 0; round < 100; round++)
        {
            PixelBuffer<int> pixels = setup.Allocator.AllocatePixels<int>(64, 256);
            PixelBuffer<int>[] tiles = [.. Enumerable.Range(0, 8).Select(i => pixels.Crop(i % 2 * 32, i / 2 * 64, 32, 64))];
            using Barrier barrier = new(9);
            TestThreads.Run(9, i =>
            {
                barrier.SignalAndWait();
                using PixelBuffer<int> mine = i == 8 ? pixels : tiles[i];
                if (i < 8)
                {
                    mine.Fill(i);
                }
            });
            Assert.Equal(0, setup.Statistics.OutstandingAllocations);
        }
    }

    [Fact]
    public void Crop_OutOfRange_IsRefusedAndKeepsNothing()
    {
        using TestSetup setup = new();
        PixelBuffer<int> pixels = setup.Allocator.AllocatePixels<int>(10, 20);
        Assert.Throws<ArgumentOutOfRangeException>("x", () => pixels.Crop(-1, 0, 1, 1));
        Assert.Throws<ArgumentOutOfRangeException>("x", () => pixels.Crop(10, 0, 1, 1));
        Assert.Throws<ArgumentOutOfRangeException>("y", () => pixels.Crop(0, 20, 1, 1));
        Assert.Throws<ArgumentOutOfRangeException>("y", () => pixels.Crop(0, 21, 1, 1));
        Assert.Throws<ArgumentOutOfRangeException>("width", () => pixels.Crop(1, 0, 10, 1));
        Assert.Throws<ArgumentOutOfRangeException>("width", () => pixels.Crop(0, 0, 0, 1));
        Assert.Throws<ArgumentOutOfRangeException>("height", () => pixels.Crop(0, 19, 1, 2));
        Assert.Throws<ArgumentOutOfRangeException>("height", () => pixels.Crop(0, 0, 1, 0));
        Assert.Throws<ArgumentException>(() => pixels.Cast<long>());
        pixels.Dispose();
        Assert.Equal(0, setup.Statistics.OutstandingAllocations);
    }

    [Theory]
    [MemberData(nameof(Sizes))]
    public unsafe void Crop_HandedOff_IsItsOwnPixelsPastTheOthers(int width, int height)
    {
        using TestSetup setup = new(maximumBlocks: 64);
        PixelBuffer<int> pixels = setup.Allocator.AllocatePixels<int>(width, height, AllocationOptions.Contiguous);
        Number(pixels);
        PixelBuffer<int> crop = pixels.Crop(4, 3, 5, 2);
        NativePixels native = crop.HandOff();
        pixels.Dispose();
        Assert.Equal((5, 2, width * 4), (native.Width, native.Height, native.RowBytes));
        Assert.Equal(4008, ((int*)(native.Pointer + native.RowBytes))[4]);
        Assert.Throws<ObjectDisposedException>(() => crop.Clear());
        Assert.Equal(1, setup.Statistics.OutstandingAllocations);
        native.Dispose();
        Assert.Equal(0, setup.Statistics.OutstandingAllocations);
    }

    // The pool's blocks are scattered, but these rows are in one of them.
    [Fact]
    public unsafe void Crop_WithinOneBlock_IsContiguousAndCanBePinned()
    {
        using TestSetup setup = new(maximumBlocks: 64);
        using PixelBuffer<int> pixels = setup.Allocator.AllocatePixels<int>(1000, 50);
        Assert.False(pixels.IsContiguous);
        Number(pixels);
        using PixelBuffer<int> crop = pixels.Crop(10, 5, 20, 2);
        Assert.True(crop.IsContiguous);
        using MemoryHandle pin = crop.Pin();
        Assert.Equal(5010, *(int*)pin.Pointer);
        Assert.Equal(6010, ((int*)pin.Pointer)[crop.RowStride]);
    }

    [Fact]
    public void Crop_DroppedWithItsBuffer_IsFoundAsAbandoned() =>
        RemoteExecutor.Invoke(static () =>
        {
            using MemoryAllocator allocator = MemoryAllocator.Create();
            Drop(allocator);
            Assert.True(SpinWait.SpinUntil(
                () =>
                {
                    GC.Collect();
                    GC.WaitForPendingFinalizers();
                    return allocator.GetStatistics().OutstandingAllocations == 0;
                },
                TimeSpan.FromSeconds(30)));
        }).Dispose();

    [Theory]
    [MemberData(nameof(Sizes))]
    public unsafe void AsBytesAndCast_OfAGroup_AreItsBlocksAndKeepTheMemory(int width, int height)
    {
        using TestSetup setup = new(maximumBlocks: 64);
        foreach (AllocationOptions options in (AllocationOptions[])[AllocationOptions.None, AllocationOptions.Contiguous])
        {
            MemoryGroup<int> group = setup.Allocator.AllocateGroup<int>(width * height, width, options);
            group.Fill(0x01020304);
            MemoryGroup<byte> bytes = group.AsBytes();
            MemoryGroup<float> cast = group.Cast<float>();
            Assert.Equal((group.TotalLength * 4, group.Count, group.BlockLength * 4), (bytes.TotalLength, bytes.Count, bytes.BlockLength));
            cast[cast.Count - 1].Span[0] = 1;
            group.Dispose();
            Assert.Throws<ObjectDisposedException>(() => group[0]);
            Assert.Equal([4, 3, 2, 1], bytes[0].Span.Slice(4, 4).ToArray());
            Assert.Equal([0, 0, 0x80, 0x3F], bytes[bytes.Count - 1].Span.Slice(0, 4).ToArray());
            using (MemoryHandle pin = bytes[bytes.Count - 1].Pin())
            {
                Assert.Equal(1, *(float*)pin.Pointer);
            }

            using (PooledMemoryStream stream = bytes.AsStream())
            {
                stream.Position = 4;
                Assert.Equal(4, stream.ReadByte());
            }

            Assert.Equal(1, setup.Statistics.OutstandingAllocations);
            cast.Dispose();
            Assert.Equal(0, setup.Statistics.OutstandingAllocations);
        }
    }

    [Fact]
    public unsafe void AsBytes_OfAWrappedGroup_IsTheCallersMemory()
    {
        using TestSetup setup = new();
        int released = 0;
        int[] array = [1, 2, 3, 4];
        MemoryGroup<int> group = setup.Allocator.WrapGroup(array.AsMemory(1, 2), () => released++);
        using (MemoryGroup<byte> bytes = group.AsBytes())
        {
            group.Dispose();
            Assert.Equal(8, bytes.TotalLength);
            bytes[0].Span.Slice(4).Fill(0xFF);
            using MemoryHandle pin = bytes[0].Slice(4).Pin();
            Assert.Equal(0xFF, *(byte*)pin.Pointer);
            Assert.Equal(0, released);
        }

        Assert.Equal([1, 2, -1, 4], array);
        Assert.Equal(1, released);
        Assert.Throws<ArgumentException>(() => setup.Allocator.WrapGroup(array.AsMemory()).Cast<byte>());
    }

    [Theory]
    [MemberData(nameof(Sizes))]
    public async Task DangerousGetRowMemory_ReadAsynchronously_IsTheRow(int width, int height)
    {
        using TestSetup setup = new(maximumBlocks: 64);
        PixelBuffer<int> pixels = setup.Allocator.AllocatePixels<int>(width, height);
        using PixelBuffer<byte> bytes = pixels.AsBytes();
        byte[] content = new byte[width * height * 4];
        new Random(1).NextBytes(content);
        using MemoryStream source = new(content);
        using MemoryStream target = new();
        for (int y = 0; y < height; y++)
        {
            await source.ReadExactlyAsync(bytes.DangerousGetRowMemory(y));
        }

        for (int y = 0; y < height; y++)
        {
            Assert.Equal(MemoryMarshal.AsBytes(pixels.DangerousGetRowSpan(y)), MemoryMarshal.AsBytes(pixels.DangerousGetRowMemory(y).Span));
            await target.WriteAsync(bytes.DangerousGetRowMemory(y));
        }

        Assert.Equal(content, target.ToArray());
        Memory<int> row = pixels.DangerousGetRowMemory(height - 1);
        using (MemoryHandle pin = row.Slice(width / 2).Pin())
        {
            AssertPinned(pin, row.Span[width / 2]);
        }

        Assert.Throws<ArgumentOutOfRangeException>("y", () => pixels.DangerousGetRowMemory(height));
        Assert.Equal(setup.Allocator.GetStatistics().PoolMisses == 0, MemoryMarshal.TryGetArray<byte>(bytes.DangerousGetRowMemory(0), out _));
        pixels.Dispose();
        Assert.Throws<ObjectDisposedException>(() => row.Span[0]);
        Assert.Throws<ObjectDisposedException>(() => pixels.DangerousGetRowMemory(0));
    }

    [Fact]
    public void DangerousGetRowMemory_OfArrays_HasTheirSegment()
    {
        using TestSetup setup = new();
        int[] array = [.. Enumerable.Range(0, 20)];
        using PixelBuffer<int> pixels = setup.Allocator.WrapPixels(array.AsMemory(2), 3, 2, 5);
        Assert.True(MemoryMarshal.TryGetArray<int>(pixels.DangerousGetRowMemory(1), out ArraySegment<int> segment));
        Assert.Equal((array, 7, 3), (segment.Array, segment.Offset, segment.Count));
    }

    [Fact]
    public void AccessorViews_BytesCastAndReadOnly_AreTheSameRows()
    {
        using TestSetup setup = new();
        using PixelBuffer<int> pixels = setup.Allocator.AllocatePixels<int>(10, 20);
        Number(pixels);
        pixels.ProcessPixelRows(static rows =>
        {
            PixelAccessor<int> part = rows.Slice(2, 3, 4, 5);
            Assert.Equal((16, 5, 3, 40), (part.AsBytes().Width, part.AsBytes().Height, part.AsBytes().FirstRow, part.AsBytes().RowStride));
            Assert.Equal(BitConverter.GetBytes(4003), part.AsBytes().GetRowSpan(1).Slice(4, 4).ToArray());
            Assert.Equal(4003u, part.Cast<uint>().GetRowSpan(1)[1]);
            ReadOnlyPixelAccessor<int> read = part;
            Assert.Equal(
                (4, 5, 3, 10, 40), (read.Width, read.Height, read.FirstRow, read.RowStride, read.RowStrideInBytes));
            Assert.Equal(5003, read.Slice(1, 1, 3, 4).GetRowSpan(1)[0]);
            Assert.Equal(BitConverter.GetBytes(4003), read.AsBytes().GetRowSpan(1).Slice(4, 4).ToArray());
            Assert.Equal(4003u, read.Cast<uint>().GetRowSpan(1)[1]);
        });
        int read = 0;
        pixels.ReadPixelRows(rows => read = rows.GetRowSpan(7)[8]);
        pixels.ReadPixelRows(static (rows, expected) => Assert.Equal(expected, rows.GetRowSpan(7)[8]), read);
        Assert.Equal(7008, read);
    }

    [Fact]
    public void ProcessPixelRows_WithAState_PassesIt()
    {
        using TestSetup setup = new();
        using PixelBuffer<int> pixels = setup.Allocator.AllocatePixels<int>(10, 20);
        using PixelBuffer<byte> other = setup.Allocator.AllocatePixels<byte>(10, 20);
        Number(pixels);
        pixels.ProcessPixelRows(other, static (rows, others, state) => others.GetRowSpan(2)[1] = (byte)(rows.GetRowSpan(0)[7] + state), 5);
        Assert.Equal(12, other.DangerousGetRowSpan(2)[1]);
        int[] bands = new int[20];
        pixels.ProcessPixelRowsInParallel(
            static (rows, bands) =>
            {
                for (int y = 0; y < rows.Height; y++)
                {
                    bands[rows.FirstRow + y]++;
                }
            },
            bands);
        pixels.ProcessPixelRowsInParallel(
            other,
            static (rows, others, bands) =>
            {
                for (int y = 0; y < rows.Height; y++)
                {
                    bands[rows.FirstRow + y] += others.Height;
                }
            },
            bands,
            maxDegreeOfParallelism: 3);
        Assert.All(bands, static count => Assert.Equal(21, count));
    }

    [Fact]
    public void ProcessPixelRowsInParallel_Cancelled_CallsNothingMore()
    {
        using TestSetup setup = new();
        using PixelBuffer<int> pixels = setup.Allocator.AllocatePixels<int>(10, 20);
        using CancellationTokenSource source = new();
        source.Cancel();
        Assert.Throws<OperationCanceledException>(
            () => pixels.ProcessPixelRowsInParallel(static _ => Assert.Fail("called"), -1, source.Token));
        Assert.Throws<OperationCanceledException>(
            () => pixels.ProcessPixelRowsInParallel(static (_, _) => Assert.Fail("called"), 1, cancellationToken: source.Token));
        pixels.Dispose();
        Assert.Equal(0, setup.Statistics.OutstandingAllocations);
    }

    [Theory]
    [InlineData(0)]
    [InlineData(3)]
    public void DangerousTryGetSingleMemory_CropWithinABlock_EndsWithThatBlock(int x)
    {
        using TestSetup setup = new(maximumBlocks: 64);

        // Four rows of 4 KiB in a block. Every second block is another's, so the blocks of the image have gaps.
        IMemoryOwner<byte>[] blocks = [.. Enumerable.Range(0, 32).Select(_ => setup.Allocator.Allocate<byte>(TestSetup.BlockSize))];
        for (int i = 0; i < blocks.Length; i += 3)
        {
            blocks[i].Dispose();
        }

        using PixelBuffer<int> pixels = setup.Allocator.AllocatePixels<int>(1024, 16);
        Number(pixels);
        for (int y = 0; y < 16; y += 4)
        {
            using PixelBuffer<int> crop = pixels.Crop(x, y, 1024 - x, 4);
            Assert.True(crop.DangerousTryGetSingleMemory(out Memory<int> memory));
            Assert.Equal(4 * 1024 - x, memory.Length);
            Assert.Equal((y + 3) * 1000 + 1023, memory.Span[^1]);
            int length = 0;
            Assert.Equal(x == 0, crop.TryProcessSinglePixelSpan(span => length = span.Length));
            Assert.Equal(x == 0 ? 4 * 1024 : 0, length);
        }

        foreach (IMemoryOwner<byte> block in blocks)
        {
            block.Dispose();
        }
    }

    private static unsafe void AssertPinned(MemoryHandle pin, int value) => Assert.Equal(value, *(int*)pin.Pointer);

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void Drop(MemoryAllocator allocator) =>
        GC.KeepAlive(allocator.AllocatePixels<int>(1000, 1000).Crop(10, 10, 20, 20).AsBytes());

    private static void Number(PixelBuffer<int> pixels) =>
        pixels.ProcessPixelRows(static rows =>
        {
            for (int y = 0; y < rows.Height; y++)
            {
                for (int x = 0; x < rows.Width; x++)
                {
                    rows.GetRowSpan(y)[x] = y * 1000 + x;
                }
            }
        });

    // Of a view that may be disposed already: then, and only then, it says so.
    private static void AssertRow<TPixel>(PixelBuffer<TPixel> view, IDisposable[] ended, int row, TPixel[] expected)
        where TPixel : unmanaged
    {
        if (Array.IndexOf<IDisposable>(ended, view) < 0)
        {
            Assert.Equal(expected, view.DangerousGetRowSpan(row).ToArray());
            return;
        }

        Assert.Throws<ObjectDisposedException>(() => view.DangerousGetRowSpan(row)[0]);
        Assert.Throws<ObjectDisposedException>(() => view.Clear());
        if (row == 0)
        {
            Assert.Throws<ObjectDisposedException>(() => view.ProcessPixelRows(static _ => { }));
            Assert.Throws<ObjectDisposedException>(() => view.Crop(0, 0, 1, 1));
        }
    }
}
