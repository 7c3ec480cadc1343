using System.Buffers.Binary;
using Allocator.Tests.Fakes;

namespace Allocator.SkiaSharp.Tests;

/// <summary>What a hostile or careless caller does: streams that lie or call back, disposal too early, headers that claim.</summary>
public class HostileUseTests
{
    private static readonly SKImageInfo s_info = new(1000, 700, SKColorType.Bgra8888, SKAlphaType.Opaque);

    public static TheoryData<string> SmallFiles => ["jpeg", "png", "webp", "bmp", "turned"];

    [Theory]
    [MemberData(nameof(SmallFiles))]
    public async Task DecodeBitmap_CutOffAtAnyByte_ThrowsOrDecodesAndLeavesNothing(string name)
    {
        byte[] file = Small(name);
        using MemoryAllocator allocator = MemoryAllocator.Create(
            new MemoryAllocatorOptions { MemoryBudgetMegabytes = 64, BudgetTimeout = TimeSpan.Zero });
        int decoded = 0;
        for (int length = 0; length <= file.Length; length++)
        {
            using MemoryStream part = new(file, 0, length);
            Exception? exception = Record.Exception(() => allocator.DecodeBitmap(part).Dispose());
            Exception? later = await Record.ExceptionAsync(
                async () => (await allocator.DecodeBitmapAsync(new TricklingStream(file[..length], most: 7))).Dispose());

            Assert.True(exception is null or InvalidDataException, $"{length}: {exception}");
            Assert.Equal((length, exception?.Message), (length, later?.Message));
            MemoryAllocatorStatistics statistics = allocator.GetStatistics();
            Assert.Equal((length, 0, 0), (length, statistics.OutstandingAllocations, statistics.BudgetUsedBytes));
            decoded += exception is null ? 1 : 0;
        }

        Assert.InRange(decoded, 1, 30);
    }

    [Fact]
    public async Task DecodeBitmap_StreamReportsAWrongLength_ThrowsOrDecodesAndLeavesNothing()
    {
        byte[] file = Small("jpeg");
        using MemoryAllocator allocator = MemoryAllocator.Create(
            new MemoryAllocatorOptions { MemoryBudgetMegabytes = 64, BudgetTimeout = TimeSpan.Zero });
        foreach (LyingStream stream in new LyingStream[]
        {
            new(file) { Says = file.Length * 2 }, new(file) { Says = file.Length / 2 }, new(file) { Says = 0 }, new(file) { Says = -1 },
            new(file) { Says = 2_000_000_000 }, new(file) { Says = long.MaxValue }, new(file) { Says = long.MinValue },
            new(file) { ReadReturns = -1 }, new(file) { ReadReturns = int.MaxValue }, new(file) { ReadReturns = int.MinValue },
        })
        {
            Exception? exception = Record.Exception(() => allocator.DecodeBitmap(stream).Dispose());
            stream.Position = 0;
            Exception? later = await Record.ExceptionAsync(async () => (await allocator.DecodeBitmapAsync(stream)).Dispose());

            foreach (Exception? one in new[] { exception, later })
            {
                Assert.True(
                    one is null or InvalidDataException or IOException or MemoryLimitExceededException, $"{stream.Says}: {one}");
            }

            MemoryAllocatorStatistics statistics = allocator.GetStatistics();
            Assert.Equal((stream.Says, 0, 0), (stream.Says, statistics.OutstandingAllocations, statistics.BudgetUsedBytes));
        }
    }

    /// <summary>PNG and BMP say widths and heights of 32 bits; what GIF and WebP can say fits no budget either.</summary>
    [Theory]
    [InlineData("png", 16, 20, 900_000, 900_000)]
    [InlineData("png", 16, 20, int.MaxValue, int.MaxValue)]
    [InlineData("png", 16, 20, 1, int.MaxValue)]
    [InlineData("png", 16, 20, -1, -1)]
    [InlineData("bmp", 18, 22, 30_000, 30_000)]
    [InlineData("bmp", 18, 22, int.MaxValue, int.MaxValue)]
    [InlineData("bmp", 18, 22, 16, int.MinValue)]
    [InlineData("bmp", 18, 22, 0, 0)]
    public async Task DecodeBitmap_OfAHeaderThatClaimsTooMuch_IsRefused(string name, int widthAt, int heightAt, int width, int height)
    {
        byte[] file = Small(name);
        Action<Span<byte>, int> write = name == "png" ? BinaryPrimitives.WriteInt32BigEndian : BinaryPrimitives.WriteInt32LittleEndian;
        write(file.AsSpan(widthAt), width);
        write(file.AsSpan(heightAt), height);
        if (name == "png")
        {
            BinaryPrimitives.WriteUInt32BigEndian(file.AsSpan(29), Picture.Crc(file.AsSpan(12, 17)));
        }

        using MemoryAllocator allocator = MemoryAllocator.Create(
            new MemoryAllocatorOptions { MemoryBudgetMegabytes = 100, BudgetTimeout = TimeSpan.Zero });
        foreach (SKSizeI? largest in new SKSizeI?[] { null, new SKSizeI(10, 10) })
        {
            SKBitmapDecodeOptions options = new() { LargestSize = largest };
            Exception? exception = Record.Exception(() => allocator.DecodeBitmap(new MemoryStream(file), options).Dispose());
            Exception? later = await Record.ExceptionAsync(
                async () => (await allocator.DecodeBitmapAsync(new MemoryStream(file), options)).Dispose());

            Assert.True(exception is InvalidDataException or MemoryLimitExceededException, $"{exception}");
            Assert.True(later is InvalidDataException or MemoryLimitExceededException { IsTransient: false }, $"{later}");
            Assert.Equal(0, allocator.GetStatistics().OutstandingAllocations);
            Assert.Equal(0, allocator.GetStatistics().BudgetUsedBytes);
        }
    }

    [Fact]
    public async Task Dispose_ByManyThreadsAtOnce_ReturnsThePixelsAndTheReservationOnce()
    {
        byte[] file = Small("jpeg");
        using MemoryAllocator allocator = MemoryAllocator.Create(new MemoryAllocatorOptions { MemoryBudgetMegabytes = 64 });
        for (int round = 0; round < 100; round++)
        {
            PooledBitmap bitmap = await allocator.DecodeBitmapAsync(new MemoryStream(file));
            using Barrier barrier = new(4);
            TestThreads.Run(4, _ =>
            {
                barrier.SignalAndWait();
                bitmap.Dispose();
            });

            MemoryAllocatorStatistics statistics = allocator.GetStatistics();
            Assert.Equal((round, 0, 0), (round, statistics.OutstandingAllocations, statistics.BudgetUsedBytes));
        }
    }

    [Fact]
    public async Task Dispose_OfAReservedBitmapWhileAnImageSharesIt_LeavesThePixelsToTheImage()
    {
        using MemoryAllocator allocator = MemoryAllocator.Create(new MemoryAllocatorOptions { MemoryBudgetMegabytes = 64 });
        PooledBitmap bitmap = await allocator.DecodeBitmapAsync(new MemoryStream(Picture.Read("baseline.jpg")));
        SKColor expected = bitmap.GetPixel(800, 600);
        bitmap.SetImmutable();
        SKImage image = SKImage.FromBitmap(bitmap);
        bitmap.Dispose();

        // The reservation has ended; what is still used counts against the budget.
        Assert.Equal(1, allocator.GetStatistics().OutstandingAllocations);
        Assert.InRange(allocator.GetStatistics().BudgetUsedBytes, Picture.Width * Picture.Height * 4, 64 << 20);
        using (PooledBitmap other = allocator.AllocateBitmap(s_info, AllocationOptions.Clean))
        using (SKPixmap pixels = image.PeekPixels())
        {
            Assert.Equal(expected, pixels.GetPixelColor(800, 600));
        }

        image.Dispose();
        Assert.Equal(0, allocator.GetStatistics().OutstandingAllocations);
        Assert.Equal(0, allocator.GetStatistics().BudgetUsedBytes);
    }

    [Fact]
    public async Task Dispose_OfTheAllocatorBeforeTheBitmap_LeavesThePixels()
    {
        MemoryAllocator allocator = MemoryAllocator.Create(new MemoryAllocatorOptions { MemoryBudgetMegabytes = 64 });
        using PooledBitmap bitmap = await allocator.DecodeBitmapAsync(new MemoryStream(Picture.Read("baseline.jpg")));
        allocator.Dispose();

        Assert.NotEqual(default, bitmap.GetPixel(800, 600));
        Assert.Throws<ObjectDisposedException>(() => allocator.DecodeBitmap(new MemoryStream(Small("jpeg"))).Dispose());
        await Assert.ThrowsAsync<ObjectDisposedException>(
            async () => (await allocator.DecodeBitmapAsync(new MemoryStream(Small("jpeg")))).Dispose());
        bitmap.Dispose();
        Assert.Equal(0, allocator.GetStatistics().OutstandingAllocations);
    }

    /// <summary>The caller's stream runs while Skia encodes: what it does to the bitmap must not free the pixels below Skia.</summary>
    [Theory]
    [InlineData(SKEncodedImageFormat.Jpeg)]
    [InlineData(SKEncodedImageFormat.Png)]
    public void Encode_ToAStreamThatDisposesTheBitmap_EncodesIt(SKEncodedImageFormat format) =>
        RemoteExecutor.Invoke(
            static name =>
            {
                SKEncodedImageFormat format = Enum.Parse<SKEncodedImageFormat>(name);
                using MemoryAllocator allocator = MemoryAllocator.Create(new MemoryAllocatorOptions { Safety = SafetyMode.Guarded });
                byte[] expected = Encode(allocator, format, _ => { });

                // In Guarded mode the pages of a block that went back are not readable.
                byte[] encoded = Encode(allocator, format, bitmap => bitmap.Dispose());

                Assert.Equal(expected, encoded);
                Assert.Equal(0, allocator.GetStatistics().OutstandingAllocations);
            },
            format.ToString()).Dispose();

    /// <summary>Skia's own methods end the process when they are called on a disposed object.</summary>
    [Fact]
    public void Methods_OfADisposedBitmap_ThrowObjectDisposed() =>
        RemoteExecutor.Invoke(static () =>
        {
            using MemoryAllocator allocator = MemoryAllocator.Create();
            PooledBitmap bitmap = allocator.AllocateBitmap(s_info, AllocationOptions.Clean);
            bitmap.Dispose();
            SKBitmap plain = new(s_info);
            plain.Dispose();

            Assert.Throws<ObjectDisposedException>(() => bitmap.Encode(Stream.Null, SKEncodedImageFormat.Jpeg, 80));
            Assert.Throws<ObjectDisposedException>(
                () => SkiaSharpMemory.Encode(plain, Stream.Null, SKEncodedImageFormat.Jpeg, 80));
            Assert.Throws<ObjectDisposedException>(() => allocator.ResizeBitmap(bitmap, new SKSizeI(10, 10), default).Dispose());
            Assert.Throws<ObjectDisposedException>(() => allocator.ResizeBitmap(plain, new SKSizeI(10, 10), default).Dispose());
            Assert.Equal(0, allocator.GetStatistics().OutstandingAllocations);
        }).Dispose();

    [Theory]
    [InlineData(0, 10)]
    [InlineData(-1, 10)]
    [InlineData(int.MinValue, int.MinValue)]
    [InlineData(int.MaxValue, int.MaxValue)]
    [InlineData(65_535, 65_535)]
    public void ResizeBitmap_ToAnInvalidSize_ThrowsAndLeavesNothing(int width, int height)
    {
        using MemoryAllocator allocator = MemoryAllocator.Create(
            new MemoryAllocatorOptions { MemoryBudgetMegabytes = 64, BudgetTimeout = TimeSpan.Zero });
        using SKBitmap source = new(s_info);

        SKSizeI size = new(width, height);
        Exception exception = Assert.ThrowsAny<Exception>(() => allocator.ResizeBitmap(source, size, default).Dispose());

        Assert.True(exception is ArgumentException or MemoryLimitExceededException, $"{exception}");
        Assert.Equal(0, allocator.GetStatistics().BudgetUsedBytes);
    }

    [Fact]
    public async Task DecodeBitmapAsync_CancelledWhileItReads_LeavesNothing()
    {
        byte[] file = Picture.Read("opaque.png");
        using MemoryAllocator allocator = MemoryAllocator.Create(new MemoryAllocatorOptions { MemoryBudgetMegabytes = 64 });
        for (int after = 1; after * 10_000 < file.Length; after += 5)
        {
            using CancellationTokenSource source = new();
            LyingStream stream = new(file) { CanSeekToo = false, OnRead = reads => (reads == after ? source : null)?.Cancel() };

            await Assert.ThrowsAnyAsync<OperationCanceledException>(
                async () => (await allocator.DecodeBitmapAsync(stream, null, source.Token)).Dispose());

            MemoryAllocatorStatistics statistics = allocator.GetStatistics();
            Assert.Equal((after, 0, 0), (after, statistics.OutstandingAllocations, statistics.BudgetUsedBytes));
        }
    }

    private static byte[] Encode(MemoryAllocator allocator, SKEncodedImageFormat format, Action<PooledBitmap> onWrite)
    {
        // Larger than what an encoder reads before its first write.
        PooledBitmap bitmap = allocator.AllocateBitmap(s_info, AllocationOptions.Clean);
        using (SKBitmap drawn = Picture.Draw(s_info.Width, s_info.Height, SKAlphaType.Opaque))
        {
            drawn.GetPixelSpan().CopyTo(bitmap.GetPixelSpan());
        }

        using MemoryStream encoded = new();
        using (bitmap)
        {
            bitmap.Encode(new LyingStream([]) { OnWrite = bytes => { encoded.Write(bytes); onWrite(bitmap); } }, format, 90);
        }

        return encoded.ToArray();
    }

    private static byte[] Small(string name) => name switch
    {
        "jpeg" => Picture.Encode(SKEncodedImageFormat.Jpeg, 80, SKAlphaType.Opaque, width: 24, height: 16),
        "turned" => Picture.Oriented(Small("jpeg"), SKEncodedOrigin.RightTop),
        "png" => Picture.Encode(SKEncodedImageFormat.Png, 80, SKAlphaType.Opaque, width: 24, height: 16),
        "webp" => Picture.Encode(SKEncodedImageFormat.Webp, 80, SKAlphaType.Opaque, width: 24, height: 16),
        _ => Picture.Bmp(24, 16),
    };

    /// <summary>A stream that says what it was told to say.</summary>
    private sealed class LyingStream(byte[] content) : MemoryStream(content)
    {
        private int _reads;

        public long? Says { get; init; }

        public int? ReadReturns { get; init; }

        public bool CanSeekToo { get; init; } = true;

        public Action<int>? OnRead { get; init; }

        public Action<byte[]>? OnWrite { get; init; }

        public override long Length => Says ?? base.Length;

        public override bool CanSeek => CanSeekToo;

        public override int Read(Span<byte> buffer)
        {
            OnRead?.Invoke(++_reads);
            int read = base.Read(CanSeekToo ? buffer : buffer[..Math.Min(buffer.Length, 10_000)]);
            return ReadReturns ?? read;
        }

        public override ValueTask<int> ReadAsync(Memory<byte> buffer, CancellationToken cancellationToken = default)
        {
            cancellationToken.ThrowIfCancellationRequested();
            return new ValueTask<int>(Read(buffer.Span));
        }

        public override void Write(ReadOnlySpan<byte> buffer) => OnWrite?.Invoke(buffer.ToArray());
    }
}
