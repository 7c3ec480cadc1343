using Allocator.Native;
using Xunit;

namespace Allocator.Tests.Native;

public class FenceLayoutTests
{
    [Theory]
    [InlineData(4096, 1, 64, 4096, 4032, 63)]
    [InlineData(4096, 64, 64, 4096, 4032, 0)]
    [InlineData(4096, 100, 64, 4096, 3968, 28)]
    [InlineData(4096, 4096, 64, 4096, 0, 0)]
    [InlineData(4096, 4097, 64, 8192, 4032, 63)]
    [InlineData(4096, 100, 1024, 4096, 3072, 924)]
    [InlineData(4096, 100, 4096, 4096, 0, 3996)]
    [InlineData(4096, 5000, 2097152, 8192, 0, 3192)]
    [InlineData(16384, 1, 64, 16384, 16320, 63)]
    [InlineData(65536, 100, 64, 65536, 65408, 28)]
    [InlineData(65536, 65537, 64, 131072, 65472, 63)]
    [InlineData(65536, 100, 16384, 65536, 49152, 16284)]
    [InlineData(65536, 5000, 2097152, 65536, 0, 60536)]
    public void Layout_LengthAndAlignment_PutsTheBufferAsFarBackAsTheAlignmentAllows(int page, long length, int alignment, long body, long before, long behind)
    {
        FenceLayout layout = new(length, alignment, page);
        Assert.Equal((body, before, behind), (layout.BodyInBytes, layout.SlackBeforeInBytes, layout.SlackBehindInBytes));
        Assert.Equal(0, (layout.FrontInBytes + layout.SlackBeforeInBytes) % alignment);
        Assert.Equal((0, page), (layout.FrontInBytes % page, layout.BackInBytes));
        Assert.Equal(layout.FrontInBytes + layout.BodyInBytes + layout.BackInBytes, layout.TotalInBytes);
    }
}
