using System;
using System.Xml.Linq;

namespace Measuring.Charts;

/// <summary>Draws the markers of a line.</summary>
internal static class ChartMarker
{
    private const double Radius = 4;

    public static XElement Create(double x, double y, SeriesStyle style)
    {
        // Strokes have no inside; the others are white there, so that a marker below still shows around the edge.
        bool isStrokes = style.Marker is MarkerShape.Plus or MarkerShape.Cross;
        return SvgElements.Path(Outline(x, y, style.Marker), style.Colour, isStrokes ? 2 : 1.6, isStrokes ? "none" : "#fff");
    }

    private static string Outline(double x, double y, MarkerShape shape)
    {
        const double R = Radius;
        FormattableString path = shape switch
        {
            MarkerShape.Circle => $"M{x - R:0.#} {y:0.#}a{R} {R} 0 1 0 {2 * R} 0a{R} {R} 0 1 0 {-2 * R} 0Z",
            MarkerShape.Square => $"M{x - 3.5:0.#} {y - 3.5:0.#}h7v7h-7Z",
            MarkerShape.Triangle => $"M{x:0.#} {y - 4.5:0.#}l4.5 8h-9Z",
            MarkerShape.Diamond => $"M{x:0.#} {y - 5:0.#}l5 5l-5 5l-5 -5Z",
            MarkerShape.InvertedTriangle => $"M{x:0.#} {y + 4.5:0.#}l4.5 -8h-9Z",
            MarkerShape.Plus => $"M{x - 5:0.#} {y:0.#}h10M{x:0.#} {y - 5:0.#}v10",
            _ => $"M{x - R:0.#} {y - R:0.#}l8 8M{x - R:0.#} {y + R:0.#}l8 -8",
        };
        return FormattableString.Invariant(path);
    }
}
