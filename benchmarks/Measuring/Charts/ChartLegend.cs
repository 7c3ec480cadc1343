using System;
using System.Collections.Generic;
using System.Linq;
using System.Xml.Linq;

namespace Measuring.Charts;

/// <summary>The names of the series with a sample of each, in rows above the plot.</summary>
internal sealed class ChartLegend
{
    private const double LineSample = 34;
    private const double BarSample = 14;
    private const double Gap = 8;
    private const double Space = 20;
    private const double RowHeight = 20;

    private readonly List<(double X, int Row)> _places = [];
    private readonly IReadOnlyList<(string Name, SeriesStyle Style)> _series;
    private readonly bool _hasLines;
    private readonly double _sampleWidth;

    /// <summary>
    /// Arranges the names of <paramref name="series"/> on <paramref name="width"/> pixels. One series needs no legend: the title names
    /// it.
    /// </summary>
    public ChartLegend(IReadOnlyList<(string Name, SeriesStyle Style)> series, bool hasLines, double width)
    {
        _series = series.Count > 1 ? series : [];
        _hasLines = hasLines;
        _sampleWidth = hasLines ? LineSample : BarSample;
        (double x, int row) = (0, 0);
        foreach (double entry in _series.Select(entry => _sampleWidth + Gap + TextMeasure.Width(entry.Name)))
        {
            (x, row) = x > 0 && x + entry > width ? (0, row + 1) : (x, row);
            _places.Add((x, row));
            Width = Math.Max(Width, x + entry);
            x += entry + Space;
        }

        Height = _places.Count == 0 ? 0 : (row + 1) * RowHeight;
    }

    public double Width { get; }

    public double Height { get; }

    public void AddTo(XElement picture, double left, double top)
    {
        foreach (((double x, int row), int i) in _places.Select((place, i) => (place, i)))
        {
            (string name, SeriesStyle style) = _series[i];
            double middle = top + ((row + 0.5) * RowHeight);
            picture.Add(_hasLines
                ? (object[])[Stroke(left + x, middle, style), ChartMarker.Create(left + x + (LineSample / 2), middle, style)]
                : [SvgElements.Rectangle(left + x, middle - (BarSample / 2), BarSample, BarSample, style.Colour)]);
            picture.Add(SvgElements.Text(left + x + _sampleWidth + Gap, middle + 4.5, name));
        }
    }

    private static XElement Stroke(double x, double y, SeriesStyle style)
        => SvgElements.Path(FormattableString.Invariant($"M{x:0.#} {y:0.#}h{LineSample}"), style.Colour, LineChart.LineWidth, dashes: style.Dashes);
}
