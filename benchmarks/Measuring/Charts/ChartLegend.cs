using System;
using System.Collections.Generic;
using System.Linq;
using System.Xml.Linq;

namespace Measuring.Charts;

/// <summary>The names of the series with a sample of each, in rows above the plot.</summary>
internal sealed class ChartLegend
{
    private const double SampleWidth = 34;
    private const double Gap = 8;
    private const double Space = 20;
    private const double RowHeight = 20;

    private readonly List<(double X, int Row)> _places = [];
    private readonly IReadOnlyList<string> _names;
    private readonly bool _hasLines;

    /// <summary>Arranges <paramref name="names"/> on <paramref name="width"/> pixels. One series needs no legend: the title names it.</summary>
    public ChartLegend(IReadOnlyList<string> names, bool hasLines, double width)
    {
        _names = names.Count > 1 ? names : [];
        _hasLines = hasLines;
        (double x, int row) = (0, 0);
        foreach (double entry in _names.Select(name => SampleWidth + Gap + TextMeasure.Width(name)))
        {
            (x, row) = x > 0 && x + entry > width ? (0, row + 1) : (x, row);
            _places.Add((x, row));
            Width = Math.Max(Width, x + entry);
            x += entry + Space;
        }

        Height = _places.Count == 0 ? 0 : (row + 1) * RowHeight;
    }

    /// <summary>Gets the width of the longest row, in pixels.</summary>
    public double Width { get; }

    /// <summary>Gets the height of all rows, in pixels.</summary>
    public double Height { get; }

    /// <summary>Draws the legend with its upper left corner at a point.</summary>
    public void AddTo(XElement picture, double left, double top)
    {
        foreach (((double x, int row), int i) in _places.Select((place, i) => (place, i)))
        {
            SeriesStyle style = SeriesStyle.Of(i);
            double middle = top + ((row + 0.5) * RowHeight);
            picture.Add(_hasLines
                ? (object[])[Stroke(left + x, middle, style), ChartMarker.Create(left + x + (SampleWidth / 2), middle, style)]
                : [SvgElements.Rectangle(left + x + SampleWidth - 14, middle - 7, 14, 14, style.Colour)]);
            picture.Add(SvgElements.Text(left + x + SampleWidth + Gap, middle + 4.5, _names[i]));
        }
    }

    private static XElement Stroke(double x, double y, SeriesStyle style)
        => SvgElements.Path(FormattableString.Invariant($"M{x:0.#} {y:0.#}h{SampleWidth}"), style.Colour, LineChart.LineWidth, dashes: style.Dashes);
}
