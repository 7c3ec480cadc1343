using Allocator.Allocators;

namespace Allocator.Tests.Allocators;

public class AllocationRequestTests
{
    [Theory]
    [InlineData(0, long.MaxValue, 0)]
    [InlineData(3, 5, 15)]
    [InlineData(1L << 31, 1L << 31, 1L << 62)]
    [InlineData(1L << 32, 1L << 31, long.MaxValue)]
    [InlineData(1L << 60, 16, long.MaxValue)]
    [InlineData(long.MaxValue, long.MaxValue, long.MaxValue)]
    public void Multiply_AnyProduct_SaturatesInsteadOfWrapping(long a, long b, long product)
    {
        Assert.Equal(product, AllocationRequest.Multiply(a, b));
        Assert.Equal(product, AllocationRequest.Multiply(b, a));
    }

    [Theory]
    [InlineData(0, 64, 0)]
    [InlineData(1, 64, 64)]
    [InlineData(64, 64, 64)]
    [InlineData(long.MaxValue, 64, long.MaxValue)]
    public void RoundUp_AnyValue_SaturatesInsteadOfWrapping(long value, long multiple, long result) =>
        Assert.Equal(result, AllocationRequest.RoundUp(value, multiple));

    [Theory]
    [InlineData(100, 4, 1, 100)]
    [InlineData(100, 4, 64, 112)]
    [InlineData(100, 3, 64, 128)]
    [InlineData(100, 12, 64, 112)]
    [InlineData(100, 64, 64, 100)]
    [InlineData(1, 1, 2 << 20, 2 << 20)]
    [InlineData(int.MaxValue, 1, 64, 1L << 31)]
    public void RowStride_AnyPixelSize_IsWholePixelsAndWholeBoundaries(int width, int pixelSize, int alignment, long stride) =>
        Assert.Equal(stride, AllocationRequest.RowStride(width, pixelSize, alignment));
}
