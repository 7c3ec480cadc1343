using Allocator.Native;
using Xunit;

namespace Allocator.Tests.Native;

public class FenceLayoutTests
{
    [Theory]
    [InlineData(1, 64, 4096, 4032, 63)]
    [InlineData(64, 64, 4096, 4032, 0)]
    [InlineData(100, 64, 4096, 3968, 28)]
    [InlineData(4096, 64, 4096, 0, 0)]
    [InlineData(4097, 64, 8192, 4032, 63)]
    [InlineData(100, 1024, 4096, 3072, 924)]
    [InlineData(100, 4096, 4096, 0, 3996)]
    [InlineData(5000, 2097152, 8192, 0, 3192)]
    public void Layout_LengthAndAlignment_PutsTheBufferAsFarBackAsTheAlignmentAllows(long length, int alignment, long body, long before, long behind)
    {
        FenceLayout layout = new(length, alignment, 4096);
        Assert.Equal((body, before, behind), (layout.BodyInBytes, layout.SlackBeforeInBytes, layout.SlackBehindInBytes));
        Assert.Equal(0, (layout.FrontInBytes + layout.SlackBeforeInBytes) % alignment);
        Assert.Equal((0, 4096), (layout.FrontInBytes % 4096, layout.BackInBytes));
        Assert.Equal(layout.FrontInBytes + layout.BodyInBytes + layout.BackInBytes, layout.TotalInBytes);
    }
}
