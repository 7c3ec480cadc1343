using Allocator.Pooling;

namespace Allocator.Tests.Pooling;

public class PoolGeometryTests
{
    private const int Block = 4 << 20;
    private const long Gigabyte = 1L << 30;

    [Theory]
    [InlineData(16 * Gigabyte, 512)]
    [InlineData(500L << 20, 15)]
    [InlineData(31L << 20, 0)]
    public void BlocksWithin_On64Bit_IsAnEighthOfWhatIsAvailable(long available, int blocks) =>
        Assert.Equal(blocks, PoolGeometry.BlocksWithin(null, Block, is64Bit: true, available));

    [Theory]
    [InlineData(true, null)]
    [InlineData(true, 0L)]
    [InlineData(true, -1L)]
    [InlineData(true, long.MaxValue)]
    [InlineData(false, 16 * Gigabyte)]
    [InlineData(false, null)]
    public void BlocksWithin_On32BitOrWithoutAFigure_Is128Megabytes(bool is64Bit, long? available) =>
        Assert.Equal(32, PoolGeometry.BlocksWithin(null, Block, is64Bit, available));

    [Theory]
    [InlineData(0, 0)]
    [InlineData(3, 0)]
    [InlineData(7, 1)]
    [InlineData(4096, 1024)]
    [InlineData(int.MaxValue, 536870911)]
    public void BlocksWithin_Given_IsRoundedDownToWholeBlocks(int megabytes, int blocks) =>
        Assert.Equal(blocks, PoolGeometry.BlocksWithin(megabytes, Block, is64Bit: true, Gigabyte));
}
