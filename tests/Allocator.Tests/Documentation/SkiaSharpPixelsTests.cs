using Integrations;
using SkiaSharp;

namespace Allocator.Tests.Documentation;

/// <summary>What the code of the guide does, with a model of a bitmap: see the declarations.</summary>
public class SkiaSharpPixelsTests
{
    [Fact]
    public void ToBitmap_ContiguousPixels_AreTheBitmapsUntilItIsDisposed()
    {
        using MemoryAllocator allocator = MemoryAllocator.Create();
        PixelBuffer<uint> pixels = allocator.AllocatePixels<uint>(300, 200, AllocationOptions.Contiguous, rowAlignmentInBytes: 64);
        pixels.ProcessPixelRows(static rows => rows.GetRowSpan(199)[299] = 0xFF102030);

        using (SKBitmap bitmap = SkiaSharpPixels.ToBitmap(pixels))
        {
            Assert.Equal((300, 200, 1216), (bitmap.Width, bitmap.Height, bitmap.RowBytes));
            Assert.Equal(0xFF102030, (uint)Marshal.ReadInt32(bitmap.GetPixels() + (199 * 1216) + (299 * 4)));
            Assert.Equal(1, allocator.GetStatistics().OutstandingAllocations);
        }

        Assert.Equal(0, allocator.GetStatistics().OutstandingAllocations);
    }

    [Fact]
    public void ToBitmap_PixelsInPieces_AreRefusedAndStayUsable()
    {
        using MemoryAllocator allocator = MemoryAllocator.Create();
        using PixelBuffer<uint> pixels = allocator.AllocatePixels<uint>(4000, 3000);

        Assert.Throws<InvalidOperationException>(() => SkiaSharpPixels.ToBitmap(pixels));

        pixels.ProcessPixelRows(static rows => rows.GetRowSpan(2999).Clear());
    }

    [Fact]
    public void ToPixelBuffer_BitmapWithGapsBetweenRows_IsWrittenInPlaceAndDisposedWithTheBuffer()
    {
        using SKBitmap bitmap = new(new SKImageInfo(300, 200, SKColorType.Rgba8888, SKAlphaType.Premul));
        using (PixelBuffer<uint> pixels = SkiaSharpPixels.ToPixelBuffer(bitmap, MemoryAllocator.Default))
        {
            pixels.ProcessPixelRows(static rows => rows.GetRowSpan(100)[7] = 0xFF405060);

            Assert.Equal(0xFF405060, (uint)Marshal.ReadInt32(bitmap.GetPixels() + (100 * bitmap.RowBytes) + (7 * 4)));
            Assert.False(bitmap.IsDisposed);
        }

        Assert.True(bitmap.IsDisposed);
    }
}
