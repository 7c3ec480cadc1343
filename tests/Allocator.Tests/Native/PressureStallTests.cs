using System.Globalization;
using Allocator.Native;
using Allocator.Tests.Fakes;
using Xunit;

namespace Allocator.Tests.Native;

public class PressureStallTests
{
    [Theory]
    [InlineData("some avg10=12.34 avg60=1.00 avg300=0.50 total=123\nfull avg10=2.00 avg60=0.00 avg300=0.00 total=45\n", 12.34)]
    [InlineData("some avg10=0.00 avg60=0.00 avg300=0.00 total=0", 0.0)]
    [InlineData("full avg10=2.00 avg60=0.00 avg300=0.00 total=45\n", null)]
    [InlineData("some avg10=-1.00", null)]
    [InlineData("some avg10=100.01", null)]
    [InlineData("some avg10=NaN", null)]
    [InlineData("some avg10=", null)]
    [InlineData("some avg60=1.00", null)]
    [InlineData("", null)]
    public void TryRead_Line_GivesThePartOfTenSecondsThatSomeThreadWaited(string text, double? expected) =>
        Assert.Equal(expected, PressureStall.TryRead(new FakeFiles { ["x"] = text }.TryRead, "x"));

    [Fact]
    public void TryRead_CultureWithACommaInNumbers_ReadsTheSame()
    {
        CultureInfo before = CultureInfo.CurrentCulture;
        CultureInfo.CurrentCulture = new CultureInfo("") { NumberFormat = new NumberFormatInfo { NumberDecimalSeparator = ",", NumberGroupSeparator = "." } };
        try
        {
            Assert.Equal(12.34, PressureStall.TryRead(new FakeFiles { ["x"] = "some avg10=12.34" }.TryRead, "x"));
        }
        finally
        {
            CultureInfo.CurrentCulture = before;
        }
    }

    [Fact]
    public void TryRead_NoFile_GivesNothing() => Assert.Null(PressureStall.TryRead(new FakeFiles().TryRead, "x"));
}
