using System;
using System.Collections.Generic;

namespace Measuring.Charts;

/// <summary>The shapes at the points of a line.</summary>
public enum MarkerShape
{
    Circle,

    Square,

    Triangle,

    Diamond,

    InvertedTriangle,

    Plus,

    Cross,
}

/// <summary>
/// How one series looks. Two series differ in colour, in marker and, up to the fifth, in the dashes of the line: lines that lie upon each
/// other
/// show through each other, and nobody needs to see colours to tell them apart.
/// </summary>
/// <param name="Dashes">The dashes of a line; null for an unbroken one.</param>
public sealed record SeriesStyle(string Colour, MarkerShape Marker, string? Dashes)
{
    // The palette of Okabe and Ito, which people see differently who do not see all colours, without its yellow, which is lost on white.
    private static readonly string[] s_colours = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#333333"];

    private static readonly string?[] s_dashes = [null, "8 4", "2 3", "10 3 2 3", "5 2"];

    private static readonly IReadOnlyList<MarkerShape> s_shapes = Enum.GetValues<MarkerShape>();

    /// <summary>Returns the style of the series with this index; with more than 49 series they repeat.</summary>
    public static SeriesStyle Of(int index)
    {
        int round = index / s_colours.Length;
        return new SeriesStyle(s_colours[index % s_colours.Length], s_shapes[(index + round) % s_shapes.Count], s_dashes[index % s_dashes.Length]);
    }
}
