using System.Globalization;
using System.Text.RegularExpressions;
using System.Xml.Linq;
using Measuring.Charts;
using Measuring.Results;

namespace Measuring.Tests.Charts;

/// <summary>A chart as a viewer sees it: what stands where.</summary>
internal sealed partial class DrawnChart
{
    // About as wide as the letters of the usual fonts are on average, and as high as capitals are.
    private const double LetterWidth = 7.2;
    private const double LetterHeight = 10;

    private readonly XElement _root;

    public DrawnChart(ResultChart chart)
    {
        _root = XDocument.Parse(ChartPicture.Draw(chart)).Root!;
    }

    public double Width => Number(_root, "width");

    public double Height => Number(_root, "height");

    public IEnumerable<string> Texts => Elements(_root, "text").Select(text => text.Value);

    /// <summary>The place of the text that is exactly this: where it is anchored.</summary>
    public (double X, double Y) Text(string value)
    {
        XElement text = Assert.Single(Elements(_root, "text"), text => text.Value == value);
        return (Number(text, "x"), Number(text, "y"));
    }

    /// <summary>The corners of the lines of a series, in order.</summary>
    public IReadOnlyList<(double X, double Y)> Line(string series) => [.. Lines(series).SelectMany(Corners)];

    /// <summary>The lines of a series, of which there are several where a value is missing.</summary>
    public IEnumerable<string> Lines(string series)
        => Paths(series).Where(path => !path.Contains('Z') && path.Contains('M') && !path.Contains('h') && !path.Contains('l'));

    /// <summary>How many markers a series has.</summary>
    public int Markers(string series) => Paths(series).Count() - Lines(series).Count();

    /// <summary>The bars of a series.</summary>
    public IReadOnlyList<(double X, double Y, double Width, double Height)> Bars(string series)
        => [.. Elements(Group(series), "rect").Select(bar => (Number(bar, "x"), Number(bar, "y"), Number(bar, "width"), Number(bar, "height")))];

    /// <summary>Colour and dashes of a series.</summary>
    public (string Colour, string? Dashes) Look(string series)
    {
        XElement first = Group(series).Elements().First(element => element.Name.LocalName is "path" or "rect");
        return (first.Attribute(first.Name.LocalName == "rect" ? "fill" : "stroke")!.Value, first.Attribute("stroke-dasharray")?.Value);
    }

    /// <summary>Asserts that every text lies inside the picture and upon no other.</summary>
    public void AssertTextsAreReadable()
    {
        (string Text, double Left, double Top, double Right, double Bottom)[] boxes = [.. Elements(_root, "text").Select(Box)];
        Assert.All(boxes, box => Assert.True(
            box.Left >= 0 && box.Top >= 0 && box.Right <= Width && box.Bottom <= Height, $"{box} is not inside {Width} x {Height}"));
        for (int i = 0; i < boxes.Length; i++)
        {
            Assert.All(boxes.Skip(i + 1), other => Assert.False(
                boxes[i].Left < other.Right && other.Left < boxes[i].Right && boxes[i].Top < other.Bottom && other.Top < boxes[i].Bottom,
                $"{boxes[i]} lies upon {other}"));
        }
    }

    private static (string Text, double Left, double Top, double Right, double Bottom) Box(XElement text)
    {
        (double x, double y, double width) = (Number(text, "x"), Number(text, "y"), text.Value.Length * LetterWidth);
        if (text.Attribute("transform") is not null)
        {
            return (text.Value, x - LetterHeight, y - (width / 2), x, y + (width / 2));
        }

        double left = text.Attribute("text-anchor")!.Value switch { "end" => x - width, "middle" => x - (width / 2), _ => x };
        return (text.Value, left, y - LetterHeight, left + width, y);
    }

    private static IEnumerable<(double X, double Y)> Corners(string path)
        => Corner().Matches(path).Select(match => (Parse(match.Groups[1].Value), Parse(match.Groups[2].Value)));

    private static IEnumerable<XElement> Elements(XElement parent, string name)
        => parent.Descendants().Where(element => element.Name.LocalName == name);

    private static double Number(XElement element, string name) => Parse(element.Attribute(name)!.Value);

    private static double Parse(string text) => double.Parse(text, CultureInfo.InvariantCulture);

    private IEnumerable<string> Paths(string series) => Elements(Group(series), "path").Select(path => path.Attribute("d")!.Value);

    private XElement Group(string series)
        => Assert.Single(Elements(_root, "g"), group => group.Elements().First().Value.Equals(series, StringComparison.Ordinal));

    [GeneratedRegex("[ML]([-0-9.]+) ([-0-9.]+)")]
    private static partial Regex Corner();
}
