namespace Allocator.SkiaSharp.Tests;

/// <summary>What a job reserves before it decodes, and what it needs no more after that.</summary>
public class ReservationTests
{
    [Fact]
    public async Task DecodeBitmapAsync_OnAnAllocator_ReservesUntilTheBitmapIsDisposed()
    {
        using MemoryAllocator allocator = MemoryAllocator.Create(new MemoryAllocatorOptions { MemoryBudgetMegabytes = 100 });
        byte[] file = Picture.Read("progressive-420.jpg");
        SKBitmapDecodeOptions options = new() { WorkingBytes = 20_000_000 };
        long estimated = allocator.EstimateBitmapBytes(new MemoryStream(file), options);

        PooledBitmap bitmap = await allocator.DecodeBitmapAsync(new MemoryStream(file), options);
        MemoryReservation reservation = Assert.IsType<MemoryReservation>(bitmap.Allocator);
        long reserved = allocator.GetStatistics().BudgetUsedBytes;
        bitmap.Dispose();

        Assert.Equal((estimated, estimated), (reservation.ReservedBytes, reserved));
        Assert.True(reservation.RemainingBytes == 0, "Ended.");
        Assert.Equal(0, reservation.OverflowCount);
        Assert.Equal(0, allocator.GetStatistics().BudgetUsedBytes);
    }

    [Fact]
    public async Task DecodeBitmapAsync_OnAReservation_ReservesNothingOfItsOwn()
    {
        using MemoryAllocator allocator = MemoryAllocator.Create(new MemoryAllocatorOptions { MemoryBudgetMegabytes = 60 });
        using MemoryReservation reservation = await allocator.ReserveAsync(60_000_000);
        using (PooledBitmap bitmap = await reservation.DecodeBitmapAsync(new MemoryStream(Picture.Read("baseline.jpg"))))
        {
            Assert.Same(reservation, bitmap.Allocator);
            Assert.Equal(60_000_000, allocator.GetStatistics().BudgetUsedBytes);
            Assert.InRange(reservation.RemainingBytes, 1, 60_000_000 - bitmap.ByteCount);
        }

        Assert.Equal(60_000_000, reservation.RemainingBytes);
    }

    /// <summary>The pair that is recommended for a web service: what the picture reserves is a part of the request's job.</summary>
    [Fact]
    public async Task DecodeBitmapAsync_WithinAJobOfTheAllocator_IsCountedOnce()
    {
        using MemoryAllocator allocator = MemoryAllocator.Create(new MemoryAllocatorOptions { MemoryBudgetMegabytes = 60 });
        byte[] file = Picture.Read("progressive-420.jpg");
        for (int i = 0; i < 3; i++)
        {
            using MemoryReservation job = await allocator.ReserveAsync("thumbnails");
            using (job.Use())
            {
                using PooledBitmap bitmap = await allocator.DecodeBitmapAsync(new MemoryStream(file));
                Assert.Equal(job.ReservedBytes, allocator.GetStatistics().BudgetUsedBytes);
            }

            Assert.True(i == 0 || job.ReservedBytes < 30_000_000, $"Learned: {job.ReservedBytes:N0} bytes.");
            Assert.Equal((job.ReservedBytes, 0), (job.RemainingBytes, job.OverflowCount));
        }

        Assert.Equal((0, 0), (allocator.GetStatistics().BudgetUsedBytes, allocator.GetStatistics().BudgetWaits));
    }

    /// <summary>Sixteen pictures, and room for two: a job has what it needs before it decodes, so none waits while it holds.</summary>
    [Fact]
    public async Task DecodeBitmapAsync_MoreJobsThanFit_AllCompleteWithoutARefusal()
    {
        byte[] file = Picture.Oriented(Picture.Read("progressive-420.jpg"), SKEncodedOrigin.RightTop);
        SKBitmapDecodeOptions options = new() { WorkingBytes = 3_000_000 };
        using MemoryAllocator allocator = MemoryAllocator.Create(
            new MemoryAllocatorOptions { MemoryBudgetMegabytes = 50, BudgetTimeout = TimeSpan.FromSeconds(60) });

        long[] written = await Task.WhenAll(Enumerable.Range(0, 16).Select(_ => Task.Run(async () =>
        {
            using PooledBitmap bitmap = await allocator.DecodeBitmapAsync(new TricklingStream(file), options);
            using PooledBitmap small = bitmap.Allocator.ResizeBitmap(
                bitmap, new SKSizeI(300, 400), new SKSamplingOptions(SKCubicResampler.Mitchell));
            using PooledMemoryStream stream = bitmap.Allocator.CreateStream();
            SkiaSharpMemory.Encode(small, stream, SKEncodedImageFormat.Jpeg, 80);
            Assert.Equal(0, ((MemoryReservation)bitmap.Allocator).OverflowCount);
            return stream.Length;
        })));

        Assert.All(written, length => Assert.Equal(written[0], length));
        Assert.Equal(0, allocator.GetStatistics().BudgetUsedBytes);
    }

    [Fact]
    public async Task DecodeBitmapAsync_CancelledWhileItWaits_LeavesNothing()
    {
        using MemoryAllocator allocator = MemoryAllocator.Create(new MemoryAllocatorOptions { MemoryBudgetMegabytes = 30 });
        using MemoryReservation others = await allocator.ReserveAsync(30_000_000);
        using CancellationTokenSource cancellation = new();

        Task<PooledBitmap> decoding =
            allocator.DecodeBitmapAsync(new MemoryStream(Picture.Read("baseline.jpg")), null, cancellation.Token).AsTask();
        Assert.False(decoding.IsCompleted);
        await cancellation.CancelAsync();

        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => decoding);
        Assert.Equal(30_000_000, allocator.GetStatistics().BudgetUsedBytes);
    }

    [Fact]
    public async Task DecodeBitmapAsync_WaitingForItsReservation_HoldsNothingOfTheBudget()
    {
        using MemoryAllocator allocator = MemoryAllocator.Create(new MemoryAllocatorOptions { MemoryBudgetMegabytes = 30 });
        MemoryReservation others = await allocator.ReserveAsync(29_000_000);
        byte[] file = Picture.Read("opaque.png");
        byte[] large = [.. file, .. new byte[5_000_000]];

        Task<PooledBitmap> decoding = allocator.DecodeBitmapAsync(new MemoryStream(large)).AsTask();
        Assert.False(decoding.IsCompleted);
        Assert.Equal(29_000_000, allocator.GetStatistics().BudgetUsedBytes);
        others.Dispose();

        (await decoding).Dispose();
    }

    // It must not wait for what it holds itself.
    [Fact]
    public async Task DecodeBitmapAsync_NeedsTheWholeBudget_GetsItIfNothingIsOutstanding()
    {
        const int Budget = 30 << 20;
        using MemoryAllocator allocator = MemoryAllocator.Create(new MemoryAllocatorOptions { MemoryBudgetMegabytes = Budget >> 20 });
        byte[] file = Picture.Read("opaque.png");
        SKBitmapDecodeOptions options = new() { WorkingBytes = Budget / 2 };
        options.WorkingBytes += Budget - allocator.EstimateBitmapBytes(new MemoryStream(file), options);
        Assert.Equal(Budget, allocator.EstimateBitmapBytes(new MemoryStream(file), options));

        (await allocator.DecodeBitmapAsync(new MemoryStream(file), options).AsTask().WaitAsync(TimeSpan.FromSeconds(30))).Dispose();
        Assert.Equal(0, allocator.GetStatistics().BudgetUsedBytes);
    }

    // Long metadata before the pixels are read into counted memory: that must not count against what the job waits for.
    [Fact]
    public async Task DecodeBitmapAsync_HeaderOfMegabytes_DoesNotWaitForItsOwnMemory()
    {
        const int Budget = 30 << 20;
        using MemoryAllocator allocator = MemoryAllocator.Create(new MemoryAllocatorOptions { MemoryBudgetMegabytes = Budget >> 20 });
        byte[] png = Picture.Read("opaque.png");
        byte[] text = new byte[3 << 20];
        "tEXt"u8.CopyTo(text);
        text.AsSpan(4).Fill((byte)'x');
        byte[] length = BitConverter.GetBytes(System.Buffers.Binary.BinaryPrimitives.ReverseEndianness(text.Length - 4));
        byte[] sum = BitConverter.GetBytes(System.Buffers.Binary.BinaryPrimitives.ReverseEndianness((int)Picture.Crc(text)));
        byte[] file = [.. png.AsSpan(0, 33), .. length, .. text, .. sum, .. png.AsSpan(33)];
        SKBitmapDecodeOptions options = new() { WorkingBytes = Budget / 2 };
        options.WorkingBytes += Budget - allocator.EstimateBitmapBytes(new MemoryStream(file), options);

        (await allocator.DecodeBitmapAsync(new MemoryStream(file), options).AsTask().WaitAsync(TimeSpan.FromSeconds(30))).Dispose();
        Assert.Equal(0, allocator.GetStatistics().BudgetUsedBytes);
    }

    // An endpoint asks before its request waits for its turn.
    [Fact]
    public async Task EstimateBitmapBytes_TheBudgetIsFullAndOthersWait_ReadsTheHeader()
    {
        using MemoryAllocator allocator = MemoryAllocator.Create(new MemoryAllocatorOptions { MemoryBudgetMegabytes = 30 });
        MemoryReservation others = await allocator.ReserveAsync(30 << 20);
        Task<MemoryReservation> waiting = allocator.ReserveAsync(1000).AsTask();
        Assert.InRange(allocator.EstimateBitmapBytes(new MemoryStream(Picture.Read("opaque.png"))), 1, 30 << 20);
        others.Dispose();
        (await waiting).Dispose();
    }

    [Theory]
    [InlineData(SKEncodedImageFormat.Jpeg)]
    [InlineData(SKEncodedImageFormat.Png)]
    public async Task PooledBitmaps_On64ThreadsUnderABudget_AllComplete(SKEncodedImageFormat format)
    {
        byte[] file = Picture.Encode(format, 80, SKAlphaType.Opaque, width: 700, height: 500);
        using SKBitmap expected = DecodeBitmapTests.Reference(file, null);
        using MemoryAllocator allocator = MemoryAllocator.Create(
            new MemoryAllocatorOptions { MemoryBudgetMegabytes = 40, BudgetTimeout = TimeSpan.FromSeconds(60) });
        Task[] threads = [.. Enumerable.Range(0, 64).Select(_ => Task.Factory.StartNew(
            () =>
            {
                for (int i = 0; i < 5; i++)
                {
                    using PooledBitmap bitmap = allocator.DecodeBitmapAsync(new MemoryStream(file)).AsTask().GetAwaiter().GetResult();
                    DecodeBitmapTests.AssertSame(expected, bitmap);
                }
            },
            TaskCreationOptions.LongRunning))];

        await Task.WhenAll(threads);

        Assert.Equal(0, allocator.GetStatistics().OutstandingAllocations);
        Assert.Equal(0, allocator.GetStatistics().BudgetUsedBytes);
    }
}
