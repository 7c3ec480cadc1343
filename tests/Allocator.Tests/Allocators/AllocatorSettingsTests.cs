using Allocator.Allocators;
using Xunit;

namespace Allocator.Tests.Allocators;

public class AllocatorSettingsTests
{
    [Fact]
    public void AllocationLimitOf_NoOption_DependsOnTheAddresses()
    {
        Assert.Equal(4096L << 20, AllocatorSettings.AllocationLimitOf(null, is64Bit: true));
        Assert.Equal(1024L << 20, AllocatorSettings.AllocationLimitOf(null, is64Bit: false));
        Assert.Equal((long)int.MaxValue << 20, AllocatorSettings.AllocationLimitOf(int.MaxValue, is64Bit: true));
    }
}
