namespace Measuring.Charts;

/// <summary>Draws the charts of results: lines over a number, and lying bars beside their names. Lengths are in pixels.</summary>
internal sealed class ResultDrawing
{
    private const string AxisColour = "#666";
    private const string GridColour = "#dedede";

    private const double Margin = 16;
    private const double PlotWidth = 680;
    private const double LinesHeight = 380;
    private const double BarHeight = 13;
    private const double Gap = 8;
    private const double LegendRow = 20;

    // With more points than this, markers on all of them would hide the line.
    private const int MostMarkers = 40;

    // The palette of Okabe and Ito, which colour-blind readers can tell apart, without its yellow, which is lost on white.
    private static readonly string[] s_colours = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#333333"];

    private static readonly string?[] s_dashes = [null, "8 4", "2 3", "10 3 2 3", "5 2"];

    private readonly ResultChart _chart;
    private readonly XElement _picture;
    private readonly ChartAxis _x;
    private readonly ChartAxis _y;

    private ResultDrawing(ResultChart chart)
    {
        _chart = chart;
        bool isBars = chart.Kind == ChartKind.Bars;
        ChartScale values = Scale(chart.Y, chart.LogarithmicY, point => point.Y, isTight: isBars);
        ChartScale across = isBars ? values : Scale(chart.X, chart.LogarithmicX, point => point.X, isTight: true);
        IEnumerable<string> names = isBars ? chart.Categories : values.Ticks.Select(tick => tick.Label);
        double left = Margin + LegendRow + Gap + names.Max(SvgElements.Width);
        double top = Margin + LegendRow + (chart.Series.Count * LegendRow) + Gap;
        double height = isBars ? chart.Categories.Count * GroupHeight : LinesHeight;
        double bottom = top + height;
        _picture = SvgElements.Picture(
            Math.Max(left + PlotWidth + (4 * Margin), Margin + SvgElements.Width(chart.Title)), bottom + 60, chart.Title);
        _picture.Add(SvgElements.Text(Margin, Margin + SvgElements.FontSize, chart.Title, weight: "bold"));
        _x = new ChartAxis(across, left, left + PlotWidth);
        _y = new ChartAxis(values, bottom, top);
        foreach (ChartTick tick in across.Ticks)
        {
            double x = _x[tick.Value];
            _picture.Add(SvgElements.Line(x, isBars ? top : bottom, x, bottom + 4, isBars ? GridColour : AxisColour));
            _picture.Add(SvgElements.Text(x, bottom + 4 + SvgElements.FontSize, tick.Label, "middle"));
        }

        foreach (ChartTick tick in isBars ? [] : values.Ticks)
        {
            _picture.Add(SvgElements.Line(left, _y[tick.Value], left + PlotWidth, _y[tick.Value], GridColour));
            _picture.Add(SvgElements.Text(left - Gap, _y[tick.Value] + 4, tick.Label, "end"));
        }

        _picture.Add(SvgElements.Line(left, bottom, left + PlotWidth, bottom, AxisColour));
        _picture.Add(SvgElements.Line(left, top, left, bottom, AxisColour));
        _picture.Add(SvgElements.Text(left + (PlotWidth / 2), bottom + 46, isBars ? chart.Y : chart.X, "middle"));
        double middle = (top + bottom) / 2;
        _picture.Add(SvgElements.Upright(
            SvgElements.Text(Margin + SvgElements.FontSize, middle, isBars ? chart.X : chart.Y, "middle"),
            Margin + SvgElements.FontSize,
            middle));
    }

    private double GroupHeight => (_chart.Series.Count * BarHeight) + (2 * Gap);

    public static XElement Draw(ResultChart chart)
    {
        bool isBars = chart.Kind == ChartKind.Bars;
        if (isBars && chart.Series.Any(series => series.Points.Any(point => point.X < 0 || point.X >= chart.Categories.Count)))
        {
            throw new InvalidDataException($"A bar of the chart \"{chart.Title}\" has no name.");
        }

        ResultDrawing drawing = new(chart);
        for (int i = 0; i < chart.Series.Count; i++)
        {
            drawing.AddLegend(i);
            if (isBars)
            {
                drawing.AddBars(i);
            }
            else
            {
                drawing.AddLine(i);
            }
        }

        for (int i = 0; isBars && i < chart.Categories.Count; i++)
        {
            double y = drawing._y.To + ((i + 0.5) * drawing.GroupHeight) + 4;
            drawing._picture.Add(SvgElements.Text(drawing._x.From - Gap, y, chart.Categories[i], "end"));
        }

        return drawing._picture;
    }

    // Linear scales begin at zero. A size in bytes has the word at the end of its label. Bars show the least of them too.
    private ChartScale Scale(string label, bool isLogarithmic, Func<ResultPoint, double> value, bool isTight)
    {
        double[] values = [.. _chart.Series.SelectMany(series => series.Points).Select(value).Where(one => !isLogarithmic || one > 0)
            .DefaultIfEmpty(1)];
        bool isBytes = label.TrimEnd(')').EndsWith("bytes", StringComparison.OrdinalIgnoreCase);
        bool isTwo = isBytes || (isTight && values.All(one => double.IsInteger(Math.Log2(one))));
        return isLogarithmic
            ? ChartScale.Logarithmic(values.Min() / (_chart.Kind == ChartKind.Bars ? 2 : 1), values.Max(), isTwo, isBytes)
            : LinearScale.FromZero(values.Max(), ticks: 8, roundUp: _chart.Kind == ChartKind.Bars || !isTight);
    }

    private void AddLegend(int series)
    {
        double middle = Margin + LegendRow + ((series + 0.5) * LegendRow);
        _picture.Add(SvgElements.Path(
            Invariant($"M{_x.From:0.#} {middle:0.#}h34"),
            Colour(series),
            _chart.Kind == ChartKind.Bars ? BarHeight : 1.8,
            dashes: _chart.Kind == ChartKind.Bars ? null : Dashes(series)));
        if (_chart.Kind == ChartKind.Lines)
        {
            _picture.Add(Mark(series, _x.From + 17, middle));
        }

        _picture.Add(SvgElements.Text(_x.From + 34 + Gap, middle + 4.5, _chart.Series[series].Name));
    }

    private void AddBars(int series)
    {
        XElement group = SvgElements.Group(_chart.Series[series].Name);
        foreach (ResultPoint point in _chart.Series[series].Points.Where(point => !_chart.LogarithmicY || point.Y > 0))
        {
            double top = _y.To + (point.X * GroupHeight) + Gap + (series * BarHeight);
            group.Add(SvgElements.Rectangle(_x.From, top, Math.Max(1, _x[point.Y] - _x.From), BarHeight, Colour(series)));
        }

        _picture.Add(group);
    }

    private void AddLine(int series)
    {
        // Several threads that note points do not do so in order.
        List<ResultPoint> points =
            [.. _chart.Series[series].Points.Where(point => !_chart.LogarithmicY || point.Y > 0).OrderBy(point => point.X)];
        bool isDense = points.Count > MostMarkers;
        XElement group = SvgElements.Group(_chart.Series[series].Name);
        ChartCurve curve = new();
        points.ForEach(point => curve.Add(_x[point.X], _y[point.Y]));
        group.Add(SvgElements.Path(curve.ToLine(), Colour(series), isDense ? 1.2 : 1.8, dashes: isDense ? null : Dashes(series)));

        // Sparse markers begin at another point in each series, so that those of lines that run together stand beside each other.
        int every = isDense ? points.Count / (MostMarkers / 2) : 1;
        int first = series * every / _chart.Series.Count;
        group.Add(points.Where((_, i) => i % every == first).Select(point => Mark(series, _x[point.X], _y[point.Y])));
        _picture.Add(group);
    }

    private static string Colour(int series) => s_colours[series % s_colours.Length];

    private static string? Dashes(int series) => s_dashes[series % s_dashes.Length];

    // Circle, square, triangle, diamond, inverted triangle: two series differ in colour, in dashes and in marker.
    private static XElement Mark(int series, double x, double y)
    {
        FormattableString path = (series % 5) switch
        {
            0 => $"M{x - 4:0.#} {y:0.#}a4 4 0 1 0 8 0a4 4 0 1 0 -8 0Z",
            1 => $"M{x - 3.5:0.#} {y - 3.5:0.#}h7v7h-7Z",
            2 => $"M{x:0.#} {y - 4.5:0.#}l4.5 8h-9Z",
            3 => $"M{x:0.#} {y - 5:0.#}l5 5l-5 5l-5 -5Z",
            _ => $"M{x:0.#} {y + 4.5:0.#}l4.5 -8h-9Z",
        };
        return SvgElements.Path(Invariant(path), Colour(series), 1.6, "#fff");
    }
}
