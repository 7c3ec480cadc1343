using System.Collections.Generic;

namespace Measuring.Charts;

/// <summary>What stands around a plot, and how large it is.</summary>
internal sealed record ChartLayout
{
    public required string Title { get; init; }

    public required IReadOnlyList<(string Name, SeriesStyle Style)> Legend { get; init; }

    /// <summary>Gets a value indicating whether the series are lines, and not bars.</summary>
    public required bool HasLines { get; init; }

    public required string BottomLabel { get; init; }

    public required string LeftLabel { get; init; }

    /// <summary>Gets the room for the names of the marks left of the plot, in pixels.</summary>
    public required double MarksWidth { get; init; }

    /// <summary>Gets the room for the names of the marks below the plot, in pixels.</summary>
    public double MarksHeight { get; init; } = TextMeasure.LineHeight;

    /// <summary>Gets the room right of the plot, in pixels: half of the last mark's name.</summary>
    public double Overhang { get; init; }

    public required double PlotWidth { get; init; }

    public required double PlotHeight { get; init; }

    public string? Footnote { get; init; }
}
