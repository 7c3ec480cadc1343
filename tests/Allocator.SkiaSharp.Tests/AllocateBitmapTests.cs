using Allocator.Diagnostics;

namespace Allocator.SkiaSharp.Tests;

/// <summary>Whose the pixels are, and when they go back.</summary>
public class AllocateBitmapTests
{
    private static readonly SKImageInfo s_info = new(1000, 700, SKColorType.Rgba8888, SKAlphaType.Premul);

    public static TheoryData<SKColorType> ColorTypes() =>
        [.. Enum.GetValues<SKColorType>().Where(type => type != SKColorType.Unknown && new SKImageInfo(1, 1, type).BytesPerPixel > 0)];

    [Theory]
    [MemberData(nameof(ColorTypes))]
    public void AllocateBitmap_EachColorType_CanBeDrawnOnAndIsReturned(SKColorType colorType)
    {
        using MemoryAllocator allocator = MemoryAllocator.Create();
        using (PooledBitmap bitmap = allocator.AllocateBitmap(s_info.WithColorType(colorType), AllocationOptions.Clean))
        {
            Assert.Equal((1000, 700, colorType), (bitmap.Width, bitmap.Height, bitmap.ColorType));
            Assert.Equal(-1, bitmap.GetPixelSpan().IndexOfAnyExcept((byte)0));
            using SKBitmap expected = new(bitmap.Info);
            foreach (SKBitmap each in new[] { expected, bitmap })
            {
                each.Erase(SKColors.Transparent);
                using SKCanvas canvas = new(each);
                canvas.DrawColor(SKColors.Orange);
            }

            Assert.True(expected.GetPixelSpan().SequenceEqual(bitmap.GetPixelSpan()));
            Assert.InRange(allocator.GetStatistics().RentedBytes, bitmap.ByteCount, long.MaxValue);
        }

        Assert.Equal(0, allocator.GetStatistics().OutstandingAllocations);
        Assert.Equal(0, allocator.GetStatistics().RentedBytes);
    }

    [Fact]
    public void AllocateBitmap_InvalidInfo_ThrowsAndLeavesNothing()
    {
        using MemoryAllocator allocator = MemoryAllocator.Create();

        Assert.ThrowsAny<ArgumentException>(() => allocator.AllocateBitmap(SKImageInfo.Empty).Dispose());
        Assert.ThrowsAny<ArgumentException>(() => allocator.AllocateBitmap(s_info.WithSize(0, 10)).Dispose());
        Assert.ThrowsAny<ArgumentException>(() => allocator.AllocateBitmap(s_info.WithSize(-1, 10)).Dispose());
        Assert.ThrowsAny<ArgumentException>(() => allocator.CreateSurface(s_info.WithSize(0, 10)).Dispose());

        // Skia has neither bitmaps nor surfaces with such an alpha type. It calls the release delegate of the bitmap's pixels itself.
        Assert.ThrowsAny<ArgumentException>(() => allocator.AllocateBitmap(s_info.WithAlphaType(SKAlphaType.Unknown)).Dispose());
        Assert.ThrowsAny<ArgumentException>(() => allocator.CreateSurface(s_info.WithAlphaType(SKAlphaType.Unknown)).Dispose());
        Assert.Equal(0, allocator.GetStatistics().OutstandingAllocations);
    }

    [Fact]
    public void Dispose_SubsetSharesThePixels_SubsetKeepsThem()
    {
        using MemoryAllocator allocator = MemoryAllocator.Create();
        PooledBitmap bitmap = allocator.AllocateBitmap(s_info, AllocationOptions.Clean);
        using SKBitmap subset = new();
        Assert.True(bitmap.ExtractSubset(subset, new SKRectI(10, 10, 20, 20)));
        bitmap.Dispose();

        Assert.Equal(1, allocator.GetStatistics().OutstandingAllocations);
        subset.Dispose();
        Assert.Equal(0, allocator.GetStatistics().OutstandingAllocations);
    }

    /// <summary>An image of a bitmap that can still change is a copy, in memory that nothing counts.</summary>
    [Fact]
    public void Dispose_AfterAnImageOfAMutableBitmap_ReturnsThePixels()
    {
        using MemoryAllocator allocator = MemoryAllocator.Create();
        PooledBitmap bitmap = allocator.AllocateBitmap(s_info, AllocationOptions.Clean);
        using SKImage image = SKImage.FromBitmap(bitmap);
        bitmap.Dispose();

        Assert.Equal(0, allocator.GetStatistics().OutstandingAllocations);
    }

    [Fact]
    public void Dispose_Twice_ReturnsThePixelsOnce()
    {
        using MemoryAllocator allocator = MemoryAllocator.Create();
        PooledBitmap bitmap = allocator.AllocateBitmap(s_info);
        bitmap.Dispose();
        bitmap.Dispose();

        Assert.Equal(0, allocator.GetStatistics().OutstandingAllocations);
    }

    [Fact]
    public void Reset_OfABitmap_ReturnsThePixels()
    {
        using MemoryAllocator allocator = MemoryAllocator.Create();
        using PooledBitmap bitmap = allocator.AllocateBitmap(s_info);
        bitmap.Reset();

        Assert.Equal(0, allocator.GetStatistics().OutstandingAllocations);
    }

    /// <summary>Skia frees a dropped bitmap, and roots its memory until then: so the library is told.</summary>
    [Fact]
    public void AllocateBitmap_DroppedWithoutDispose_IsReportedAsAbandoned() =>
        RemoteExecutor.Invoke(static () =>
        {
            int abandoned = 0;
            MemoryDiagnostics.AllocationAbandoned += (_, _) => Interlocked.Increment(ref abandoned);
            using MemoryAllocator allocator = MemoryAllocator.Create();
            Drop(allocator);

            Assert.True(SpinWait.SpinUntil(
                () =>
                {
                    GC.Collect();
                    GC.WaitForPendingFinalizers();
                    return Volatile.Read(ref abandoned) > 0;
                },
                TimeSpan.FromSeconds(30)));
            Assert.Equal(1, allocator.GetStatistics().Abandoned);
        }).Dispose();

    [System.Runtime.CompilerServices.MethodImpl(System.Runtime.CompilerServices.MethodImplOptions.NoInlining)]
    private static void Drop(MemoryAllocator allocator)
    {
#pragma warning disable ALLOC004 // Dropped on purpose.
        allocator.AllocateBitmap(s_info).Erase(SKColors.Red);
#pragma warning restore ALLOC004
    }
}
