using Measuring.Charts;

namespace Measuring.Tests.Charts;

public class AxisUnitTests
{
    [Theory]
    [InlineData("size, bytes", true)]
    [InlineData("size (bytes)", true)]
    [InlineData("block size, B", true)]
    [InlineData("Bytes", true)]
    [InlineData("memory, MB", false)]
    [InlineData("bytes per second, GB/s", false)]
    [InlineData("", false)]
    public void Of_Label_KnowsBytes(string label, bool isBytes) => Assert.Equal(isBytes, AxisUnit.Of(label).IsBytes);

    [Theory]
    [InlineData(0, "0 B")]
    [InlineData(512, "512 B")]
    [InlineData(1024, "1 KB")]
    [InlineData(1536, "1.5 KB")]
    [InlineData(4194304, "4 MB")]
    [InlineData(34359738368, "32 GB")]
    public void Format_Bytes_UsesTheUnitThatFits(double bytes, string expected) => Assert.Equal(expected, AxisUnit.Bytes.Format(bytes));
}
