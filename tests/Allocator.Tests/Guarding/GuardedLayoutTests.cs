using Allocator.Guarding;

namespace Allocator.Tests.Guarding;

public class GuardedLayoutTests
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
    public void Layout_LengthAndAlignment_PutsTheBufferAsFarBackAsTheAlignmentAllows(
        int page, long length, int alignment, long body, long before, long behind)
    {
        GuardedLayout layout = new(length, alignment, page, OverreadToleranceInBytes: 0);
        Assert.Equal((body, before, behind), (layout.BodyInBytes, layout.SlackBeforeInBytes, layout.SlackBehindInBytes));
        Assert.Equal(0, (layout.FrontInBytes + layout.SlackBeforeInBytes) % alignment);
        Assert.Equal(0, layout.FrontInBytes % page);
        Assert.Equal(layout.FrontInBytes + layout.BodyInBytes + page, layout.TotalInBytes);
    }

    [Theory]
    [InlineData(4096, 1, 64, 64, 4096, 4096, 3968)]
    [InlineData(4096, 4032, 64, 64, 4096, 4096, 0)]
    [InlineData(4096, 4033, 64, 64, 4096, 8192, 4032)]
    [InlineData(4096, 4096, 64, 64, 4096, 8192, 4032)]
    [InlineData(4096, 4096, 64, 4096, 4096, 8192, 0)]
    [InlineData(4096, 4096, 4096, 64, 4096, 8192, 0)]
    [InlineData(4096, 8000, 2097152, 64, 8192, 8192, 0)]
    [InlineData(16384, 16384, 64, 64, 16384, 32768, 16320)]
    [InlineData(65536, 65536, 64, 4096, 65536, 131072, 61440)]
    public void Layout_WithTolerance_LeavesItBehindTheBufferAndDoesNotCountIt(
        int page, long length, int alignment, int tolerance, long capacity, long body, long before)
    {
        GuardedLayout layout = new(length, alignment, page, tolerance);
        Assert.Equal((capacity, body, before), (layout.CapacityInBytes, layout.BodyInBytes, layout.SlackBeforeInBytes));
        Assert.InRange(layout.SlackBehindInBytes, tolerance, tolerance + alignment + page);
        Assert.Equal(0, (layout.FrontInBytes + layout.SlackBeforeInBytes) % alignment);
    }
}
