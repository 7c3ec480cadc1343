namespace Measuring.Charts;

/// <summary>Draws lines over a number.</summary>
internal static class LineChart
{
    public const double LineWidth = 1.8;

    private const double DenseLineWidth = 1.2;
    private const double PlotWidth = 680;
    private const double PlotHeight = 380;
    private const int VerticalTicks = 8;

    // With more points than this, markers on all of them would hide the line, and dashes would be as long as its steps.
    private const int MostMarkers = 40;

    public static bool IsDense(ResultChart chart) => chart.Series.Any(series => series.Points.Count > MostMarkers);

    public static XElement Draw(ResultChart chart)
    {
        AxisScale across = new(chart.X, chart.LogarithmicX, IsTight: true);
        AxisScale up = new(chart.Y, chart.LogarithmicY);
        List<ResultPoint> points = [.. chart.Series.SelectMany(series => series.Points)];
        List<ResultPoint> shown = [.. points.Where(CanShow).DefaultIfEmpty(new ResultPoint(1, 1))];
        ChartScale horizontal = across.CreateAcross([.. shown.Select(point => point.X)], PlotWidth);
        ChartScale vertical = up.Create([.. shown.Select(point => point.Y)], VerticalTicks);
        ChartFrame frame = new(new ChartLayout(
            chart,
            HasLines: true,
            BottomLabel: chart.X,
            LeftLabel: chart.Y,
            PlotWidth,
            PlotHeight,
            MarksWidth: vertical.Ticks.Max(tick => TextMeasure.Width(tick.Label)),
            Overhang: TextMeasure.Width(horizontal.Ticks[^1].Label) / 2,
            Footnote: ChartFrame.Footnote(points.Count(point => !CanShow(point)), vertical)));
        ChartAxis y = frame.AddVerticalAxis(vertical);
        ChartAxis x = frame.AddHorizontalAxis(horizontal, hasGrid: false);
        for (int i = 0; i < chart.Series.Count; i++)
        {
            SeriesStyle style = SeriesStyle.Of(i, IsDense(chart));
            frame.Picture.Add(DrawSeries(chart.Series[i], style, (double)i / chart.Series.Count, x, y, CanShow));
        }

        return frame.Picture;

        bool CanShow(ResultPoint point) => across.CanShow(point.X) && up.CanShow(point.Y);
    }

    // Sparse markers begin at another point in each series, by its share of the distance, so that those of lines that run together stand
    // beside each other.
    private static XElement DrawSeries(
        ResultSeries series, SeriesStyle style, double share, ChartAxis x, ChartAxis y, Predicate<ResultPoint> canShow)
    {
        // Several threads that note points do not do so in order; the sorting leaves those with the same X as they came.
        List<ResultPoint> points = [.. series.Points.OrderBy(point => point.X)];
        bool isDense = points.Count > MostMarkers;
        XElement group = SvgElements.Group(series.Name);
        ChartCurve curve = new();
        foreach (ResultPoint point in points.Append(new ResultPoint(double.NaN, double.NaN)))
        {
            // A line is not drawn across a point that cannot be shown.
            if (canShow(point))
            {
                curve.Add(x[point.X], y[point.Y]);
            }
            else if (!curve.IsEmpty)
            {
                group.Add(SvgElements.Path(curve.ToLine(), style.Colour, isDense ? DenseLineWidth : LineWidth, dashes: style.Dashes));
                curve = new ChartCurve();
            }
        }

        int every = isDense ? points.Count / (MostMarkers / 2) : 1;
        IEnumerable<ResultPoint> marked = points.Where((point, i) => i % every == (int)(share * every) && canShow(point));
        group.Add(marked.Select(point => style.MarkAt(x[point.X], y[point.Y])));
        return group;
    }
}
