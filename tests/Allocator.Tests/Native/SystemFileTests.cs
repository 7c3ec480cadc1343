using System.Globalization;

namespace Allocator.Tests.Native;

public class SystemFileTests
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
    public void StalledPercent_Line_IsThePartOfTenSecondsThatSomeThreadWaited(string text, double? expected) =>
        Assert.Equal(expected, StalledPercent(text));

    [Fact]
    public void StalledPercent_CultureWithACommaInNumbers_ReadsTheSame()
    {
        CultureInfo before = CultureInfo.CurrentCulture;
        CultureInfo.CurrentCulture =
            new CultureInfo("") { NumberFormat = new NumberFormatInfo { NumberDecimalSeparator = ",", NumberGroupSeparator = "." } };
        try
        {
            Assert.Equal(12.34, StalledPercent("some avg10=12.34"));
        }
        finally
        {
            CultureInfo.CurrentCulture = before;
        }
    }

    [Fact]
    public void RefreshIfReadable_KernelThatCountsNoStalls_HasNoText()
    {
        FakeFiles files = new() { ["x"] = "some avg10=12.34" };
        using SystemFile file = files.TryOpen("x")!;
        file.Refresh();
        files.Remove("x");
        Assert.Throws<IOException>(file.Refresh);
        file.RefreshIfReadable();
        Assert.Equal((null, 0), (file.StalledPercent, file.Text.Length));
    }

    [Theory]
    [InlineData("anon 1\nfile 23\n", 23L)]
    [InlineData("file: 23 kB\n", 23L * 1024)]
    [InlineData("file:       23 kB", 23L * 1024)]
    [InlineData("file_mapped 1\nactive_file 2\n", null)]
    [InlineData("file nonsense\n", null)]
    [InlineData("", null)]
    public void Find_Lines_GivesTheNumberBehindTheKey(string text, long? expected)
    {
        using SystemFile file = new FakeFiles { ["x"] = text }.TryOpen("x")!;
        file.Refresh();
        Assert.Equal(expected, file.Find("file"u8));
    }

    [SkippableFact]
    public void TryOpen_MissingOrForbidden_IsNone()
    {
        Skip.IfNot(OperatingSystem.IsLinux(), "Linux's.");
        Assert.Null(SystemFile.TryOpen(Path.Combine(Path.GetTempPath(), "not-there")));
        Assert.Null(SystemFile.TryOpen("/proc"));
    }

    private static double? StalledPercent(string text)
    {
        using SystemFile file = new FakeFiles { ["x"] = text }.TryOpen("x")!;
        file.Refresh();
        return file.StalledPercent;
    }
}
