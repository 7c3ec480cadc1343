using Allocator.Allocators;

namespace Allocator.Tests.Allocators;

public class AllocationRequestTests
{
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
