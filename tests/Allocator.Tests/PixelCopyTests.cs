namespace Allocator.Tests;

/// <summary>Pixels between a buffer and other memory: copies with row strides, pins, and crops.</summary>
public class PixelCopyTests
{
    // One array, one block, several blocks, segments; packed and aligned, contiguous and not; the caller's own memory.
    private static IEnumerable<PixelBuffer<int>> Buffers(TestSetup setup)
    {
        (int, int)[] sizes = [(1, 1), (7, 11), (100, 40), (1000, 50), (5000, 40), (40_000, 3), (1, 3000), (300, 1)];
        foreach ((int width, int height) in sizes)
        {
            yield return setup.Allocator.AllocatePixels<int>(width, height);
            yield return setup.Allocator.AllocatePixels<int>(width, height, rowAlignmentInBytes: 64);
            yield return setup.Allocator.AllocatePixels<int>(width, height, AllocationOptions.Contiguous, rowAlignmentInBytes: 128);
            yield return setup.Allocator.WrapPixels(new int[(width + 3) * height].AsMemory(), width, height, width + 3);
        }
    }

    [Theory]
    [InlineData(0)]
    [InlineData(1)]
    [InlineData(13)]
    public void CopyFromAndCopyTo_AnyBufferAndStride_MoveThePixelsAndNothingBetween(int gap)
    {
        using TestSetup setup = new(maximumBlocks: 64);
        foreach (PixelBuffer<int> pixels in Buffers(setup))
        {
            int stride = pixels.Width + gap;
            int length = (pixels.Height - 1) * stride + pixels.Width;
            int[] source = [.. Enumerable.Range(1, length)];
            int[] destination = new int[length];

            pixels.CopyFrom(source, stride);
            pixels.CopyTo(destination, stride);

            for (int y = 0; y < pixels.Height; y++)
            {
                Assert.True(source.AsSpan(y * stride, pixels.Width).SequenceEqual(pixels.DangerousGetRowSpan(y)), $"{pixels}: row {y}");
                Assert.True(source.AsSpan(y * stride, pixels.Width).SequenceEqual(destination.AsSpan(y * stride, pixels.Width)));
            }

            Assert.Equal((pixels.Height - 1) * gap, destination.Count(static x => x == 0));
            pixels.Dispose();
        }

        Assert.Equal(0, setup.Statistics.OutstandingAllocations);
    }

    [Fact]
    public void CopyFromAndCopyTo_RowsThatDoNotFit_AreRefusedByValueAndLimit()
    {
        using TestSetup setup = new();
        using PixelBuffer<int> pixels = setup.Allocator.AllocatePixels<int>(10, 4, AllocationOptions.Clean);
        int[] rows = new int[3 * 12 + 10];
        pixels.CopyFrom(rows, 12);
        pixels.CopyTo(rows, 12);
        Assert.Contains("45 elements; 46", Assert.Throws<ArgumentException>("source", () => pixels.CopyFrom(rows.AsSpan(1), 12)).Message);
        Assert.Throws<ArgumentException>("destination", () => pixels.CopyTo(rows.AsSpan(1), 12));
        Assert.Throws<ArgumentException>("source", () => pixels.CopyFrom([], 10));

        foreach (int stride in (int[])[9, 0, -1, -12, int.MinValue])
        {
            Assert.Throws<ArgumentOutOfRangeException>("sourceRowStride", () => pixels.CopyFrom(rows, stride));
            Assert.Throws<ArgumentOutOfRangeException>("destinationRowStride", () => pixels.CopyTo(rows, stride));
        }

        // Three rows of that wrap in 32 bits, and are short then.
        Assert.Throws<ArgumentException>("source", () => pixels.CopyFrom(rows, int.MaxValue));
        Assert.Throws<ArgumentException>("destination", () => pixels.CopyTo(rows, (1 << 30) + (1 << 29)));
        pixels.Dispose();
        Assert.Throws<ObjectDisposedException>(() => pixels.CopyFrom(rows, 12));
        Assert.Throws<ObjectDisposedException>(() => pixels.CopyTo(rows, 12));
    }

    [Fact]
    public unsafe void Pin_ContiguousPixels_KeepsThemPastDispose()
    {
        using TestSetup setup = new();
        foreach (PixelBuffer<int> pixels in Buffers(setup))
        {
            using (pixels)
            {
                if (!pixels.IsContiguous)
                {
                    Assert.Contains(
                        nameof(AllocationOptions.Contiguous), Assert.Throws<InvalidOperationException>(() => pixels.Pin()).Message);
                    pixels.Dispose();
                    continue;
                }

                bool isWrapped = setup.Statistics.OutstandingAllocations == 0;
                MemoryHandle pin = pixels.Pin();
                ((int*)pin.Pointer)[(pixels.Height - 1L) * pixels.RowStride + pixels.Width - 1] = 42;
                Assert.Equal(42, pixels.DangerousGetRowSpan(pixels.Height - 1)[pixels.Width - 1]);
                pixels.Dispose();
                Assert.Equal(isWrapped ? 0 : 1, setup.Statistics.OutstandingAllocations);
                *(int*)pin.Pointer = 7;
                pin.Dispose();
                Assert.Equal(0, setup.Statistics.OutstandingAllocations);
                Assert.Throws<ObjectDisposedException>(() => pixels.Pin());
            }
        }
    }

    [Fact]
    public void Slice_AnyPartOfAnyBuffer_ShowsThosePixels()
    {
        using TestSetup setup = new(maximumBlocks: 64);
        Random random = new(7);
        foreach (PixelBuffer<int> pixels in Buffers(setup))
        {
            pixels.ProcessPixelRows(static rows =>
            {
                for (int y = 0; y < rows.Height; y++)
                {
                    for (int x = 0; x < rows.Width; x++)
                    {
                        rows.GetRowSpan(y)[x] = (y << 16) ^ x;
                    }
                }
            });
            pixels.ProcessPixelRows(
                static (rows, random) =>
                {
                    for (int i = 0; i < 20; i++)
                    {
                        int x = random.Next(rows.Width);
                        int y = random.Next(rows.Height);
                        PixelAccessor<int> part = rows.Slice(x, y, 1 + random.Next(rows.Width - x), 1 + random.Next(rows.Height - y));
                        int left = random.Next(part.Width);
                        int top = random.Next(part.Height);
                        PixelAccessor<int> inner = part.Slice(left, top, part.Width - left, part.Height - top);
                        Assert.Equal((y, y + top, rows.RowStride), (part.FirstRow, inner.FirstRow, inner.RowStride));
                        for (int row = 0; row < part.Height; row++)
                        {
                            Assert.True(part.GetRowSpan(row).SequenceEqual(rows.GetRowSpan(y + row).Slice(x, part.Width)));
                        }

                        for (int row = 0; row < inner.Height; row++)
                        {
                            Assert.True(inner.GetRowSpan(row).SequenceEqual(part.GetRowSpan(top + row).Slice(left)));
                        }
                    }
                },
                random);
            pixels.Dispose();
        }

        Assert.Equal(0, setup.Statistics.OutstandingAllocations);
    }

    [Fact]
    public void Slice_OfBands_CountsRowsFromTheBand()
    {
        using TestSetup setup = new();
        using PixelBuffer<int> pixels = setup.Allocator.AllocatePixels<int>(30, 100, AllocationOptions.Clean);
        pixels.ProcessPixelRowsInParallel(static band =>
        {
            PixelAccessor<int> middle = band.Slice(10, 0, 10, band.Height);
            for (int y = 0; y < middle.Height; y++)
            {
                middle.GetRowSpan(y).Fill(middle.FirstRow + y + 1);
            }
        });
        for (int y = 0; y < 100; y++)
        {
            Assert.Equal(
                [.. new int[10], .. Enumerable.Repeat(y + 1, 10), .. new int[10]], pixels.DangerousGetRowSpan(y).ToArray());
        }
    }

    [Fact]
    public void Slice_OutOfRange_ThrowsAndReachesNothing()
    {
        using TestSetup setup = new();
        foreach (PixelBuffer<int> pixels in Buffers(setup))
        {
            pixels.ProcessPixelRows(static rows =>
            {
                Assert.Equal("x", Refused(rows, -1, 0, 1, 1));
                Assert.Equal("x", Refused(rows, rows.Width + 1, 0, 0, 1));
                Assert.Equal("y", Refused(rows, 0, -1, 1, 1));
                Assert.Equal("y", Refused(rows, 0, rows.Height + 1, 1, 0));
                Assert.Equal("width", Refused(rows, 0, 0, rows.Width + 1, 1));
                Assert.Equal("width", Refused(rows, 1, 0, rows.Width, 1));
                Assert.Equal("width", Refused(rows, 1, 0, int.MaxValue, 1));
                Assert.Equal("width", Refused(rows, 0, 0, -1, 1));
                Assert.Equal("height", Refused(rows, 0, 0, 1, rows.Height + 1));
                Assert.Equal("height", Refused(rows, 0, 1, 1, rows.Height));
                Assert.Equal("height", Refused(rows, 0, 0, 1, int.MinValue));

                // Neither the row below nor the column beside.
                Assert.Equal("y", RowRefused(rows.Slice(0, 0, 1, rows.Height), rows.Height));
                Assert.Equal("y", RowRefused(rows.Slice(0, rows.Height, rows.Width, 0), 0));
                Assert.Equal("x", Refused(rows.Slice(0, 0, 0, rows.Height), 1, 0, 0, 0));
                Assert.Equal(0, rows.Slice(rows.Width, 0, 0, rows.Height).GetRowSpan(rows.Height - 1).Length);
            });
            pixels.Dispose();
        }
    }

    // The accessor keeps the memory as its origin does.
    [Fact]
    public async Task Slice_BufferDisposedMeanwhile_StaysValid()
    {
        using TestSetup setup = new();
        PixelBuffer<int> pixels = setup.Allocator.AllocatePixels<int>(1000, 50);
        await Task.Run(() => pixels.ProcessPixelRows(rows =>
        {
            PixelAccessor<int> part = rows.Slice(500, 25, 500, 25);
            Task.Run(pixels.Dispose).Wait();
            part.GetRowSpan(24).Fill(3);
            Assert.Equal(1, setup.Statistics.OutstandingAllocations);
        }));
        Assert.Equal(0, setup.Statistics.OutstandingAllocations);
    }

    private static string? Refused(scoped PixelAccessor<int> rows, int x, int y, int width, int height)
    {
        try
        {
            rows.Slice(x, y, width, height);
            return null;
        }
        catch (ArgumentOutOfRangeException e)
        {
            return e.ParamName;
        }
    }

    private static string? RowRefused(scoped PixelAccessor<int> rows, int y)
    {
        try
        {
            rows.GetRowSpan(y);
            return null;
        }
        catch (ArgumentOutOfRangeException e)
        {
            return e.ParamName;
        }
    }
}
