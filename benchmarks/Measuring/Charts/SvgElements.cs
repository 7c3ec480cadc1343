using System.Xml;

namespace Measuring.Charts;

/// <summary>The few SVG elements that charts are made of. All lengths are in pixels.</summary>
public static class SvgElements
{
    public const int FontSize = 13;

    private static readonly XNamespace s_svg = "http://www.w3.org/2000/svg";

    /// <summary>Returns <paramref name="chart"/> as the content of an SVG file, the same for the same chart.</summary>
    public static string Draw(ResultChart chart) => ToText(ResultDrawing.Draw(chart));

    /// <summary>Estimates how wide a text will be, which SVG leaves to the viewer; most fonts are narrower.</summary>
    public static double Width(string text) => text.Length * 0.6 * FontSize;

    public static XElement Picture(double width, double height, string title) => new(
        s_svg + "svg",
        At("width", width),
        At("height", height),
        new XAttribute("viewBox", Invariant($"0 0 {width:0.#} {height:0.#}")),
        new XAttribute("font-family", "system-ui, 'Segoe UI', 'DejaVu Sans', sans-serif"),
        new XAttribute("font-size", FontSize),
        new XElement(s_svg + "title", title),
        Rectangle(0, 0, width, height, "#fff"));

    public static XElement Group(string title) => new(s_svg + "g", new XElement(s_svg + "title", title));

    public static XElement Rectangle(double x, double y, double width, double height, string fill) => new(
        s_svg + "rect", At("x", x), At("y", y), At("width", width), At("height", height), new XAttribute("fill", fill));

    public static XElement Line(double x1, double y1, double x2, double y2, string stroke, string? dashes = null) => new(
        s_svg + "line", At("x1", x1), At("y1", y1), At("x2", x2), At("y2", y2), new XAttribute("stroke", stroke), Dashes(dashes));

    /// <summary>Makes a line through <paramref name="points"/>, or an area where <paramref name="fill"/> is a colour.</summary>
    public static XElement Path(string points, string stroke, double strokeWidth, string fill = "none", string? dashes = null) => new(
        s_svg + "path",
        new XAttribute("d", points),
        new XAttribute("fill", fill),
        new XAttribute("stroke", stroke),
        At("stroke-width", strokeWidth),
        new XAttribute("stroke-linejoin", "round"),
        Dashes(dashes));

    public static XElement Text(
        double x, double y, string text, string anchor = "start", string fill = "#333", string weight = "normal")
        => new(
            s_svg + "text",
            At("x", x),
            At("y", y),
            new XAttribute("text-anchor", anchor),
            new XAttribute("fill", fill),
            new XAttribute("font-weight", weight),
            text);

    public static XElement Upright(XElement element, double x, double y)
    {
        element.Add(new XAttribute("transform", Invariant($"rotate(-90 {x:0.#} {y:0.#})")));
        return element;
    }

    /// <summary>Returns <paramref name="picture"/> as the content of a file, the same on every system.</summary>
    public static string ToText(XElement picture)
    {
        XmlWriterSettings settings = new() { Indent = true, OmitXmlDeclaration = true, NewLineChars = "\n" };
        using StringWriter text = new(CultureInfo.InvariantCulture) { NewLine = "\n" };
        using (XmlWriter writer = XmlWriter.Create(text, settings))
        {
            picture.Save(writer);
        }

        text.WriteLine();
        return text.ToString();
    }

    private static XAttribute At(string name, double value) => new(name, value.ToString("0.#", CultureInfo.InvariantCulture));

    private static XAttribute? Dashes(string? dashes) => dashes is null ? null : new XAttribute("stroke-dasharray", dashes);
}
