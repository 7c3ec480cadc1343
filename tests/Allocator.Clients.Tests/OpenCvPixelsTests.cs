using Integrations;
using OpenCvSharp;

namespace Allocator.Clients.Tests;

/// <summary>The guide's code with the real OpenCV, which reads and writes the pool's memory.</summary>
public class OpenCvPixelsTests
{
    private const int Width = 640;
    private const int Height = 480;

    [SkippableTheory]
    [InlineData(1)]
    [InlineData(64)]
    public void From_PixelsWithAndWithoutGaps_AreFilteredInPlaceAndReturned(int rowAlignment)
    {
        Real.SkipWithout("opencvsharp");
        using MemoryAllocator allocator = MemoryAllocator.Create();
        PixelBuffer<uint> pixels = allocator.AllocatePixels<uint>(Width - 1, Height, AllocationOptions.Contiguous, rowAlignment);
        pixels.ProcessPixelRows(static rows =>
        {
            for (int y = 0; y < rows.Height; y++)
            {
                rows.GetRowSpan(y).Fill(y < Height / 2 ? 0xFF000000 : uint.MaxValue);
            }
        });
        using (OpenCvPixels image = OpenCvPixels.From(pixels))
        {
            nint before = image.Mat.Data;
            Cv2.GaussianBlur(image.Mat, image.Mat, new Size(5, 5), 0);

            Assert.Equal(before, image.Mat.Data);
            Assert.Equal((Width - 1, Height), (image.Mat.Cols, image.Mat.Rows));
            Assert.InRange(image.Mat.At<Vec4b>(Height / 2, 100).Item0, 1, 254);
            Assert.Equal(255, image.Mat.At<Vec4b>(Height / 2, 100).Item3);
        }

        Assert.Equal(0, allocator.GetStatistics().OutstandingAllocations);
    }

    [SkippableFact]
    public void ToPixelBuffer_Matrix_SharesItsPixelsAndIsDisposedWithThem()
    {
        Real.SkipWithout("opencvsharp");
        using MemoryAllocator allocator = MemoryAllocator.Create();
        Mat mat = new(Height, Width, MatType.CV_8UC4, new Scalar(1, 2, 3, 4));
        using (PixelBuffer<uint> pixels = OpenCvPixels.ToPixelBuffer(mat, allocator))
        {
            uint first = 0;
            pixels.ProcessPixelRows(rows =>
            {
                first = rows.GetRowSpan(Height - 1)[Width - 1];
                rows.GetRowSpan(0)[0] = 42;
            });
            Assert.Equal(0x04030201u, first);
            Assert.Equal(42, mat.At<Vec4b>(0, 0).Item0);
        }

        Assert.True(mat.IsDisposed);
    }

    /// <summary>Its rows are long enough, and were taken for pixels of four bytes.</summary>
    [SkippableFact]
    public void ToPixelBuffer_MatrixOfAnotherType_Throws()
    {
        Real.SkipWithout("opencvsharp");
        using MemoryAllocator allocator = MemoryAllocator.Create();
        using Mat mat = new(Height, Width, MatType.CV_16UC4);
        Assert.Throws<ArgumentException>(() => OpenCvPixels.ToPixelBuffer(mat, allocator));
        Assert.False(mat.IsDisposed);
    }

    /// <summary>OpenCV allocates where the size of a result changes: the pooled pixels stay, and still go back.</summary>
    [SkippableFact]
    public void From_ResultOfAnotherSize_IsOpenCvsMemory()
    {
        Real.SkipWithout("opencvsharp");
        using MemoryAllocator allocator = MemoryAllocator.Create();
        using (OpenCvPixels image = OpenCvPixels.From(allocator.AllocatePixels<uint>(Width, Height, AllocationOptions.Contiguous)))
        {
            nint pooled = image.Mat.Data;
            Cv2.Resize(image.Mat, image.Mat, new Size(Width / 2, Height / 2));
            Assert.NotEqual(pooled, image.Mat.Data);
            Assert.Equal(1, allocator.GetStatistics().OutstandingAllocations);
        }

        Assert.Equal(0, allocator.GetStatistics().OutstandingAllocations);
    }
}
