using Allocator.Allocators;

namespace Allocator.Tests.Allocators;

public class AllocatorSettingsTests
{
    [Fact]
    public void AllocationLimitOf_NoOption_DependsOnThePointerSize()
    {
        Assert.Equal(4096L << 20, AllocatorSettings.AllocationLimitOf(null, is64Bit: true));
        Assert.Equal(1024L << 20, AllocatorSettings.AllocationLimitOf(null, is64Bit: false));
        Assert.Equal((long)int.MaxValue << 20, AllocatorSettings.AllocationLimitOf(int.MaxValue, is64Bit: true));
    }

    // A request for more is above the limit there, and not something that memory could be found for later.
    [Fact]
    public void AllocationLimitOf_MoreThan32BitsCanAddress_IsCapped() =>
        Assert.Equal((2044L << 20) - 1, AllocatorSettings.AllocationLimitOf(8192, is64Bit: false));
}
