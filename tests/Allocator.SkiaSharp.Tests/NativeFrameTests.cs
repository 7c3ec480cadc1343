namespace Allocator.SkiaSharp.Tests;

/// <summary>
/// The caller's streams throw at each byte. An exception that passed a frame of Skia's would end the process, so each test has one of
/// its own.
/// </summary>
public class NativeFrameTests
{
    [Theory]
    [InlineData(SKEncodedImageFormat.Jpeg)]
    [InlineData(SKEncodedImageFormat.Png)]
    [InlineData(SKEncodedImageFormat.Webp)]
    public void DecodeBitmap_StreamThrowsAtAnyByte_ThrowsItsException(SKEncodedImageFormat format) =>
        RemoteExecutor.Invoke(
            static async name =>
            {
                byte[] file = Small(Enum.Parse<SKEncodedImageFormat>(name));
                using MemoryAllocator allocator = MemoryAllocator.Create();
                for (int k = 0; k < file.Length; k++)
                {
                    Assert.Equal($"at {k}", Assert.Throws<InvalidOperationException>(
                        () => allocator.DecodeBitmap(new TricklingStream(file, k, most: 1)).Dispose()).Message);
                    Assert.Equal($"at {k}", (await Assert.ThrowsAsync<InvalidOperationException>(
                        async () => (await allocator.DecodeBitmapAsync(new TricklingStream(file, k))).Dispose())).Message);
                    Assert.Throws<InvalidOperationException>(
                        () => allocator.DecodeBitmapAsync(new TricklingStream(file, k)).AsTask().GetAwaiter().GetResult().Dispose());
                }

                allocator.DecodeBitmap(new TricklingStream(file, file.Length, most: 1)).Dispose();
                Assert.Equal(0, allocator.GetStatistics().OutstandingAllocations);
            },
            format.ToString()).Dispose();

    [Theory]
    [InlineData(SKEncodedImageFormat.Jpeg)]
    [InlineData(SKEncodedImageFormat.Png)]
    [InlineData(SKEncodedImageFormat.Webp)]
    public void Encode_StreamThrowsAtAnyByte_ThrowsItsException(SKEncodedImageFormat format) =>
        RemoteExecutor.Invoke(
            static name =>
            {
                SKEncodedImageFormat format = Enum.Parse<SKEncodedImageFormat>(name);
                using SKBitmap bitmap = Picture.Draw(24, 16, SKAlphaType.Opaque);
                using MemoryStream whole = new();
                bitmap.Encode(whole, format, 90);
                for (int k = 0; k < whole.Length; k++)
                {
                    Assert.Equal($"at {k}", Assert.Throws<InvalidOperationException>(
                        () => SkiaSharpMemory.Encode(bitmap, new TricklingStream([], k), format, 90)).Message);
                }

                SkiaSharpMemory.Encode(bitmap, new TricklingStream([], whole.Length), format, 90);

                // SKBitmap's own method, which C# prefers to an extension, would end the process here.
                using PooledBitmap pooled = MemoryAllocator.Default.AllocateBitmap(bitmap.Info, AllocationOptions.Clean);
                Assert.Equal("at 0", Assert.Throws<InvalidOperationException>(
                    () => pooled.Encode(new TricklingStream([], 0), format, 90)).Message);
            },
            format.ToString()).Dispose();

    /// <summary>In Guarded mode a write behind the pixels is found when they go back, which is below a frame of Skia's.</summary>
    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void Dispose_AfterAWritePastThePixels_RaisesTheEventAndDoesNotThrow(bool isBitmap) =>
        RemoteExecutor.Invoke(
            static text =>
            {
                int found = 0;
                Diagnostics.MemoryDiagnostics.CorruptionFound += (_, _) => Interlocked.Increment(ref found);
                using MemoryAllocator allocator = MemoryAllocator.Create(new MemoryAllocatorOptions { Safety = SafetyMode.Guarded });
                SKImageInfo info = new(33, 33, SKColorType.Gray8, SKAlphaType.Opaque);
                if (bool.Parse(text))
                {
                    using PooledBitmap bitmap = allocator.AllocateBitmap(info);
                    WriteBefore(bitmap.GetPixels());
                }
                else
                {
                    using SKSurface surface = allocator.CreateSurface(info);
                    WriteBefore(surface.PeekPixels().GetPixels());
                }

                SpinWait.SpinUntil(() => Volatile.Read(ref found) > 0, TimeSpan.FromSeconds(30));
                Assert.Equal(1, found);
            },
            isBitmap.ToString()).Dispose();

    /// <summary>Each step's allocation is refused in turn: by a budget that has room for a little more each time.</summary>
    [Fact]
    public void DecodeBitmap_RefusedAtAnyStep_ThrowsTheRefusal() =>
        RemoteExecutor.Invoke(static () =>
        {
            byte[] file = Picture.Oriented(Picture.Read("progressive-420.jpg"), SKEncodedOrigin.RightTop);
            int refused = 0;
            for (int megabytes = 1; ; megabytes++)
            {
                using MemoryAllocator allocator = MemoryAllocator.Create(
                    new MemoryAllocatorOptions { MemoryBudgetMegabytes = megabytes, BudgetTimeout = TimeSpan.Zero });
                try
                {
                    using PooledBitmap bitmap = allocator.DecodeBitmap(
                        new MemoryStream(file), new SKBitmapDecodeOptions { LargestSize = new SKSizeI(1000, 1000) });
                    break;
                }
                catch (MemoryLimitExceededException)
                {
                    refused++;
                    Assert.Equal(0, allocator.GetStatistics().OutstandingAllocations);
                    Assert.Equal(0, allocator.GetStatistics().BudgetUsedBytes);
                }
            }

            Assert.InRange(refused, 3, 100);
        }).Dispose();

    private static unsafe void WriteBefore(nint pixels) => ((byte*)pixels)[-1] ^= 0xFF;

    private static byte[] Small(SKEncodedImageFormat format) => Picture.Encode(format, 80, SKAlphaType.Opaque, width: 24, height: 16);
}
