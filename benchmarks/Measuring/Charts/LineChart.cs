using System;
using System.Collections.Generic;
using System.Linq;
using System.Xml.Linq;
using Measuring.Results;

namespace Measuring.Charts;

/// <summary>Draws lines over a number.</summary>
internal static class LineChart
{
    public const double LineWidth = 1.8;

    private const double PlotWidth = 680;
    private const double PlotHeight = 380;
    private const int VerticalTicks = 8;

    // With more points than this, markers on all of them would hide the line, and dashes would be as long as its steps.
    private const int MostMarkers = 40;
    private const double DenseLineWidth = 1.2;

    public static XElement Draw(ResultChart chart)
    {
        AxisScale across = new() { Label = chart.X, IsLogarithmic = chart.LogarithmicX, IsTight = true };
        AxisScale up = new() { Label = chart.Y, IsLogarithmic = chart.LogarithmicY };
        List<ResultPoint> points = [.. chart.Series.SelectMany(series => series.Points)];
        List<ResultPoint> shown = [.. points.Where(CanShow)];
        if (shown.Count == 0)
        {
            return EmptyChart.Draw(chart);
        }

        ChartScale horizontal = across.CreateAcross([.. shown.Select(point => point.X)], PlotWidth);
        ChartScale vertical = up.Create([.. shown.Select(point => point.Y)], VerticalTicks);
        bool isDense = chart.Series.Any(series => series.Points.Count > MostMarkers);
        List<(string Name, SeriesStyle Style)> legend = [.. chart.Series.Select((series, i) => (series.Name, Style(i, isDense)))];
        ChartFrame frame = new(new ChartLayout
        {
            Title = chart.Title,
            Legend = legend,
            HasLines = true,
            BottomLabel = chart.X,
            LeftLabel = chart.Y,
            MarksWidth = vertical.Ticks.Max(tick => TextMeasure.Width(tick.Label)),
            Overhang = TextMeasure.Width(horizontal.Ticks[^1].Label) / 2,
            PlotWidth = PlotWidth,
            PlotHeight = PlotHeight,
            Footnote = ChartFootnote.Create(points.Count - shown.Count, vertical),
        });
        ChartAxis y = frame.AddVerticalAxis(vertical);
        ChartAxis x = frame.AddHorizontalAxis(horizontal, hasGrid: false);
        for (int i = 0; i < chart.Series.Count; i++)
        {
            frame.Picture.Add(DrawSeries(chart.Series[i], legend[i].Style, (double)i / chart.Series.Count, x, y, CanShow));
        }

        return frame.Picture;

        bool CanShow(ResultPoint point) => across.CanShow(point.X) && up.CanShow(point.Y);
    }

    private static SeriesStyle Style(int index, bool isDense)
    {
        SeriesStyle style = SeriesStyle.Of(index);
        return isDense ? style with { Dashes = null } : style;
    }

    // Sparse markers begin at another point in each series, by its share of the distance, so that those of lines that run together stand
    // beside each other.
    private static XElement DrawSeries(ResultSeries series, SeriesStyle style, double share, ChartAxis x, ChartAxis y, Predicate<ResultPoint> canShow)
    {
        // Several threads that note points do not do so in order; the sorting leaves those with the same X as they came.
        List<ResultPoint> points = [.. series.Points.OrderBy(point => point.X)];
        bool isDense = points.Count > MostMarkers;
        XElement group = SvgElements.Group(series.Name);
        foreach (IReadOnlyList<ResultPoint> stretch in Stretches(points, canShow))
        {
            ChartCurve curve = new();
            foreach (ResultPoint point in stretch)
            {
                curve.Add(x[point.X], y[point.Y]);
            }

            group.Add(SvgElements.Path(curve.ToLine(), style.Colour, isDense ? DenseLineWidth : LineWidth, dashes: style.Dashes));
        }

        int every = isDense ? points.Count / (MostMarkers / 2) : 1;
        IEnumerable<ResultPoint> marked = points.Where((point, i) => i % every == (int)(share * every) && canShow(point));
        group.Add(marked.Select(point => ChartMarker.Create(x[point.X], y[point.Y], style)));
        return group;
    }

    // A line is not drawn across a point that cannot be shown.
    private static IEnumerable<IReadOnlyList<ResultPoint>> Stretches(List<ResultPoint> points, Predicate<ResultPoint> canShow)
    {
        List<ResultPoint> stretch = [];
        foreach (ResultPoint point in points)
        {
            if (canShow(point))
            {
                stretch.Add(point);
            }
            else if (stretch.Count > 0)
            {
                yield return stretch;
                stretch = [];
            }
        }

        if (stretch.Count > 0)
        {
            yield return stretch;
        }
    }
}
