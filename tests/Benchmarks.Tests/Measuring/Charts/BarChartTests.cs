using Measuring.Charts;
using Measuring.Results;

namespace Measuring.Tests.Charts;

public class BarChartTests
{
    private static readonly string[] s_sizes = ["16 B", "4 KB", "1 MB"];

    [Fact]
    public void Draw_ShortNames_StandUprightInGroupsOverTheirNames()
    {
        DrawnChart chart = new(Documents.Bars("Times", s_sizes, Documents.Series("pool", (0, 10), (1, 20), (2, 40)), Documents.Series("GC", (0, 30), (1, 30), (2, 30))));

        (double X, double Y, double Width, double Height)[] pool = [.. chart.Bars("pool")];
        (double X, double Y, double Width, double Height)[] gc = [.. chart.Bars("GC")];

        Assert.Equal([1, 2, 4], pool.Select(bar => bar.Height / pool[0].Height).Select(ratio => Math.Round(ratio, 2)));
        for (int i = 0; i < s_sizes.Length; i++)
        {
            Assert.Equal(pool[i].X + pool[i].Width, gc[i].X, 1);
            Assert.Equal(chart.Text(s_sizes[i]).X, gc[i].X, 1);
            Assert.Equal(pool[0].Y + pool[0].Height, pool[i].Y + pool[i].Height, 0.11);
        }

        Assert.NotEqual(chart.Look("pool"), chart.Look("GC"));
        chart.AssertTextsAreReadable();
    }

    [Fact]
    public void Draw_LongNames_LieBesideTheirBars()
    {
        string[] names =
        [
            "UnmanagedMemoryStream through a byte array", "UnmanagedMemoryStream.CopyTo(MemoryStream)", "Buffer.MemoryCopy", "allocate and free, a hundred times",
            "Span<byte>.CopyTo", "Marshal.Copy by way of an array on the heap of the collector",
        ];
        DrawnChart chart = new(Documents.Bars("Times", names, [.. Enumerable.Range(0, 5).Select(j => Documents.Series($"kind {j}", [.. names.Select((_, i) => ((double)i, i + j + 1.0))]))]));

        chart.AssertTextsAreReadable();
        Assert.True(chart.Bars("kind 0")[5].Width > chart.Bars("kind 0")[0].Width);
        Assert.Equal(chart.Bars("kind 0")[5].Height, chart.Bars("kind 0")[0].Height);
        Assert.True(chart.Bars("kind 0")[5].Y > chart.Bars("kind 0")[0].Y);
    }

    [Fact]
    public void Draw_ManyNames_DoNotCollide()
    {
        string[] names = [.. Enumerable.Range(0, 40).Select(i => $"{i} threads")];

        new DrawnChart(Documents.Bars("Times", names, Documents.Series("pool", [.. names.Select((_, i) => ((double)i, i + 1.0))]))).AssertTextsAreReadable();
    }

    [Fact]
    public void Draw_LogarithmicAxis_ShowsTheLeastBarToo()
    {
        DrawnChart chart = new(Documents.Bars("Times", s_sizes, Documents.Series("pool", (0, 1), (1, 1000), (2, 100_000))) with { LogarithmicY = true });

        double[] heights = [.. chart.Bars("pool").Select(bar => bar.Height)];

        Assert.True(heights[0] > 10);
        Assert.Equal(2.0 / 3, (heights[2] - heights[1]) / (heights[1] - heights[0]), 0.01);
    }

    [Fact]
    public void Draw_NegativeValues_HangFromZero()
    {
        DrawnChart chart = new(Documents.Bars("Percent", s_sizes, Documents.Series("pool", (0, 50), (1, -25), (2, -50))));

        (double X, double Y, double Width, double Height)[] bars = [.. chart.Bars("pool")];
        double zero = chart.Text("0").Y - 4;

        Assert.Equal(zero, bars[0].Y + bars[0].Height, 0.11);
        Assert.Equal(zero, bars[1].Y, 0.11);
        Assert.Equal(2, bars[2].Height / bars[1].Height, 0.01);
    }

    [Fact]
    public void Draw_ABarThatIsMissing_LeavesItsPlace()
    {
        DrawnChart chart = new(Documents.Bars("Times", s_sizes, Documents.Series("a", (0, 1), (2, 1)), Documents.Series("b", (0, 1), (1, 1), (2, 1))));

        Assert.Equal(2, chart.Bars("a").Count);
        Assert.Equal(chart.Bars("b")[2].X, chart.Bars("a")[1].X + chart.Bars("a")[1].Width, 1);
    }

    [Theory]
    [InlineData(3)]
    [InlineData(-1)]
    [InlineData(0.5)]
    public void Draw_ABarOverNoName_ThrowsAndNamesTheChart(double place)
    {
        ResultChart chart = Documents.Bars("The chart", s_sizes, Documents.Series("pool", (place, 1)));

        Assert.Contains("The chart", Assert.Throws<InvalidDataException>(() => ChartPicture.Draw(chart)).Message);
    }
}
