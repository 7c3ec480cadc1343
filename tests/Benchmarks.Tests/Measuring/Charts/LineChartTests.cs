using Measuring.Charts;
using Measuring.Results;

namespace Measuring.Tests.Charts;

public class LineChartTests
{
    private static readonly string[] s_names =
        ["pool, owner (Allocate)", "pool, lease (Rent)", "ArrayPool<byte>.Shared", "NativeMemory", "mimalloc", "jemalloc", "TBB scalable_malloc"];

    [Fact]
    public void Draw_LogarithmicAxes_PutsPointsAtTheirMarks()
    {
        DrawnChart chart = new(Documents.Lines("Times", Documents.Series("one", (1, 10), (8, 100), (128, 1000))) with { LogarithmicX = true, LogarithmicY = true });

        (double X, double Y)[] line = [.. chart.Line("one")];

        // A label stands 4 pixels below the middle of its mark.
        Assert.Equal([chart.Text("1").X, chart.Text("8").X, chart.Text("128").X], line.Select(point => point.X));
        Assert.Equal([chart.Text("10").Y - 4, chart.Text("100").Y - 4, chart.Text("1,000").Y - 4], line.Select(point => point.Y));
        Assert.Equal(3, chart.Markers("one"));
    }

    [Fact]
    public void Draw_LinearAxes_PutsPointsInProportion()
    {
        DrawnChart chart = new(Documents.Lines("Times", Documents.Series("one", (0, 0), (1.5, 40), (5, 80))));

        (double X, double Y)[] line = [.. chart.Line("one")];

        Assert.Equal(0.3, (line[1].X - line[0].X) / (line[2].X - line[0].X), 3);
        Assert.Equal(0.5, (line[1].Y - line[0].Y) / (line[2].Y - line[0].Y), 3);
        Assert.True(line[2].Y < line[0].Y);
        Assert.Equal(chart.Text("5").X, line[2].X);
    }

    [Fact]
    public void Draw_PointsOutOfOrder_GoesFromLeftToRight()
    {
        DrawnChart chart = new(Documents.Lines("Memory", Documents.Series("one", (1, 10), (3, 30), (2, 20), (4, 40))));

        Assert.Equal(chart.Line("one").Order(), chart.Line("one"));
    }

    [Fact]
    public void Draw_SevenSeriesOverFiveDecades_IsReadable()
    {
        DrawnChart chart = new(Documents.Lines("Time of an allocation and of freeing it again", [.. s_names.Select(Steep)]) with { LogarithmicX = true, LogarithmicY = true });

        chart.AssertTextsAreReadable();
        Assert.True(chart.Width < 850, "The legend is broken into rows before it makes the picture wider.");
        foreach (string text in s_names.Concat(["threads", "time, ns", "1", "128", "10,000"]))
        {
            Assert.Contains(text, chart.Texts);
        }
    }

    [Fact]
    public void Draw_ManySeries_NoTwoLookAlike()
    {
        DrawnChart chart = new(Documents.Lines("Times", [.. Enumerable.Range(0, 20).Select(i => Documents.Series($"series {i}", (1, i), (2, i + 1)))]));

        Assert.Equal(20, Enumerable.Range(0, 20).Select(i => chart.Look($"series {i}")).Distinct().Count());
        chart.AssertTextsAreReadable();
    }

    [Fact]
    public void Draw_LongTexts_WrapInsteadOfLeavingThePicture()
    {
        string sentence = string.Join(' ', Enumerable.Repeat("many words", 30));
        DrawnChart chart = new(Documents.Lines(sentence, Documents.Series(sentence[..120], (1, 1)), Documents.Series("other", (2, 3))) with { X = sentence, Y = sentence[..100] });

        chart.AssertTextsAreReadable();
    }

    [Fact]
    public void Draw_ZeroOnALogarithmicAxis_InterruptsTheLineAndSaysSo()
    {
        DrawnChart chart = new(Documents.Lines("Times", Documents.Series("one", (1, 10), (2, 20), (3, 0), (4, 40), (5, 50))) with { LogarithmicY = true });

        Assert.Equal(2, chart.Lines("one").Count());
        Assert.Equal(4, chart.Markers("one"));
        Assert.Contains(chart.Texts, text => text.StartsWith("1 value is left out"));
    }

    [Theory]
    [InlineData(100, true)]
    [InlineData(40, false)]
    public void Draw_AnAxisThatDoesNotBeginAtZero_SaysSo(double smallest, bool expected)
    {
        DrawnChart chart = new(Documents.Lines("Times", Documents.Series("one", (1, smallest), (2, 108))));

        Assert.Equal(expected, chart.Texts.Contains("The vertical axis does not begin at 0."));
        Assert.NotEqual(expected, chart.Texts.Count(text => text == "0") == 2);
        chart.AssertTextsAreReadable();
    }

    [Fact]
    public void Draw_ThousandsOfPoints_DrawsAllButMarksFew()
    {
        DrawnChart chart = new(Documents.Lines(
            "Memory", [.. s_names.Take(3).Select((name, j) => Documents.Series(name, [.. Enumerable.Range(0, 8000).Select(i => ((double)i, (double)((i * 7919) % 1000) + j))]))]));

        Assert.All(s_names.Take(3), name => Assert.InRange(chart.Markers(name), 10, 40));
        Assert.All(s_names.Take(3), name => Assert.Equal(8000, chart.Line(name).Count));
    }

    [Fact]
    public void Draw_SizesInBytes_AreMarkedInUnits()
    {
        DrawnChart chart = new(Documents.Lines("Times", Documents.Series("one", (65536, 5), (1 << 26, 7))) with { X = "size, bytes", LogarithmicX = true });

        Assert.Contains("64 KB", chart.Texts);
        Assert.Contains("64 MB", chart.Texts);
        chart.AssertTextsAreReadable();
    }

    [Fact]
    public void Draw_MarksWithLongNames_AreFewerInsteadOfColliding()
    {
        DrawnChart chart = new(Documents.Lines("Times", Documents.Series("one", (0, 5), (1.2e9, 7))));

        chart.AssertTextsAreReadable();
        Assert.Contains("1,000,000,000", chart.Texts);
    }

    [Fact]
    public void Draw_NoValues_SaysSo()
    {
        DrawnChart chart = new(Documents.Lines("Times", Documents.Series("one"), Documents.Series("two")));

        Assert.Contains("no values", chart.Texts);
        chart.AssertTextsAreReadable();
    }

    [Fact]
    public void Draw_ASeriesWithoutPoints_IsInTheLegendOnly()
    {
        DrawnChart chart = new(Documents.Lines("Times", Documents.Series("one", (1, 2)), Documents.Series("not here")));

        Assert.Contains("not here", chart.Texts);
        Assert.Equal(0, chart.Markers("not here"));
    }

    [Fact]
    public void Draw_TheSameTwice_IsTheSameText()
    {
        ResultChart chart = Documents.Lines("Times", [.. s_names.Select(Steep)]);

        string picture = ChartPicture.Draw(chart);

        Assert.Equal(picture, ChartPicture.Draw(chart));
        Assert.DoesNotContain('\r', picture);
        Assert.EndsWith("</svg>\n", picture);
    }

    private static ResultSeries Steep(string name, int index)
        => Documents.Series(name, [.. ((double[])[1, 2, 4, 8, 16, 32, 64, 128]).Select(threads => (threads, (index + 1) * 3 * threads * threads))]);
}
