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

    /// <summary>24-bit pixels, whose step is no multiple of them: OpenCV's rows as pixels, and pixels as OpenCV's rows.</summary>
    [SkippableFact]
    public void Bgr_WithAnyStep_IsSharedBothWays()
    {
        Real.SkipWithout("opencvsharp");
        using MemoryAllocator allocator = MemoryAllocator.Create();
        using PixelBuffer<Vec3b> buffer = allocator.AllocatePixels<Vec3b>(
            Width - 2, Height, AllocationOptions.Contiguous | AllocationOptions.Clean, rowAlignmentInBytes: 4);
        using NativePixels pixels = buffer.HandOff();
        Assert.Equal(1916, pixels.RowBytes);
        using Mat mat = Mat.FromPixelData(pixels.Height, pixels.Width, MatType.CV_8UC3, pixels.Pointer, pixels.RowBytes);
        Cv2.Rectangle(mat, new Rect(100, 50, 20, 10), new Scalar(1, 2, 3), thickness: -1);

        using PixelBuffer<Vec3b> part = OpenCvPixels.ToPixelBuffer<Vec3b>(mat[new Rect(99, 49, 21, 11)], allocator);
        Assert.Equal((21, 11, pixels.RowBytes), (part.Width, part.Height, part.RowStrideInBytes));
        Assert.Equal(new Vec3b(0, 0, 0), part.DangerousGetRowSpan(1)[0]);
        Assert.Equal(new Vec3b(1, 2, 3), part.DangerousGetRowSpan(10)[20]);
        part.Fill(new Vec3b(7, 8, 9));
        Assert.Equal(new Vec3b(7, 8, 9), mat.At<Vec3b>(49, 99));
        Assert.Equal(new Vec3b(0, 0, 0), mat.At<Vec3b>(60, 99));

        // Upside down: the first row is the last of the matrix.
        using PixelBuffer<Vec3b> flipped = allocator.WrapPixels<Vec3b>(mat.Ptr(Height - 1), Width - 2, Height, -pixels.RowBytes);
        using Mat expected = mat.Flip(FlipMode.X);
        for (int y = 0; y < Height; y++)
        {
            Assert.Equal(expected.At<Vec3b>(y, 100), flipped.DangerousGetRowSpan(y)[100]);
        }
    }

    [SkippableFact]
    public void ToPixelBuffer_PixelOfAnotherSize_Throws()
    {
        Real.SkipWithout("opencvsharp");
        using MemoryAllocator allocator = MemoryAllocator.Create();
        using Mat mat = new(Height, Width, MatType.CV_8UC3);
        Assert.Throws<ArgumentException>(() => OpenCvPixels.ToPixelBuffer<uint>(mat, allocator));
        Assert.False(mat.IsDisposed);
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
