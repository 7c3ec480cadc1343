namespace Measuring.Charts;

/// <summary>
/// How one series looks. Two series differ in colour, in marker and, up to the fifth, in the dashes of the line: lines that lie upon each
/// other show through each other, and colours are not needed to tell them apart.
/// </summary>
/// <param name="Marker">Which of the outlines stands at the points of a line.</param>
/// <param name="Dashes">The dashes of a line; null for an unbroken one.</param>
internal sealed record SeriesStyle(string Colour, int Marker, string? Dashes)
{
    private const int Shapes = 7;
    private const int Plus = 5;
    private const double Radius = 4;

    // The palette of Okabe and Ito, which colour-blind readers can tell apart, without its yellow, which is lost on white.
    private static readonly string[] s_colours = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#333333"];

    private static readonly string?[] s_dashes = [null, "8 4", "2 3", "10 3 2 3", "5 2"];

    /// <summary>Returns the style of the series with this index; with more than 49 series they repeat.</summary>
    public static SeriesStyle Of(int index, bool isUnbroken = false)
    {
        int round = index / s_colours.Length;
        string? dashes = isUnbroken ? null : s_dashes[index % s_dashes.Length];
        return new SeriesStyle(s_colours[index % s_colours.Length], (index + round) % Shapes, dashes);
    }

    public XElement MarkAt(double x, double y)
    {
        // Strokes have no inside; the others are white there, so that a marker below still shows around the edge.
        bool isStrokes = Marker >= Plus;
        return SvgElements.Path(Outline(x, y), Colour, isStrokes ? 2 : 1.6, isStrokes ? "none" : "#fff");
    }

    // Circle, square, triangle, diamond, inverted triangle, plus, cross.
    private string Outline(double x, double y)
    {
        const double R = Radius;
        FormattableString path = Marker switch
        {
            0 => $"M{x - R:0.#} {y:0.#}a{R} {R} 0 1 0 {2 * R} 0a{R} {R} 0 1 0 {-2 * R} 0Z",
            1 => $"M{x - 3.5:0.#} {y - 3.5:0.#}h7v7h-7Z",
            2 => $"M{x:0.#} {y - 4.5:0.#}l4.5 8h-9Z",
            3 => $"M{x:0.#} {y - 5:0.#}l5 5l-5 5l-5 -5Z",
            4 => $"M{x:0.#} {y + 4.5:0.#}l4.5 -8h-9Z",
            Plus => $"M{x - 5:0.#} {y:0.#}h10M{x:0.#} {y - 5:0.#}v10",
            _ => $"M{x - R:0.#} {y - R:0.#}l8 8M{x - R:0.#} {y + R:0.#}l8 -8",
        };
        return Invariant(path);
    }
}
