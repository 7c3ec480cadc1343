namespace Measuring.Charts;

/// <summary>Draws groups of bars over names: upright, or lying where the names would not fit below them. Lengths are in pixels.</summary>
internal sealed class BarChart
{
    private const int UprightTicks = 8;
    private const double PlotWidth = 680;
    private const double PlotHeight = 380;
    private const double WidestUprightPlot = 1000;
    private const double WidestBar = 44;
    private const double ThinnestUprightBar = 6;
    private const double LyingBar = 13;
    private const double Gap = 8;
    private const double NamesWidth = 240;
    private const int MostLines = 3;

    private readonly ResultChart _chart;
    private readonly AxisScale _values;
    private readonly List<double> _shown;
    private readonly bool _isUpright;
    private readonly double _groupWidth;
    private readonly double _barWidth;
    private readonly List<IReadOnlyList<string>> _labels;

    private BarChart(ResultChart chart)
    {
        _chart = chart;
        _values = new AxisScale(chart.Y, chart.LogarithmicY, HasBars: true);
        IEnumerable<ResultPoint> points = chart.Series.SelectMany(series => series.Points);
        if (points.Any(point => !double.IsInteger(point.X) || point.X < 0 || point.X >= chart.Categories.Count))
        {
            throw new InvalidDataException($"A bar of the chart \"{chart.Title}\" has no name.");
        }

        _shown = [.. points.Select(point => point.Y).Where(_values.CanShow).DefaultIfEmpty(1)];
        int count = Math.Max(1, chart.Categories.Count);
        double least = Math.Max(PlotWidth / count, (chart.Series.Count * ThinnestUprightBar) + (2 * Gap));
        foreach (double group in (double[])[least, Math.Max(least, WidestUprightPlot / count)])
        {
            if (group * count <= WidestUprightPlot && chart.Categories.All(name => Fits(name, group - Gap)))
            {
                _isUpright = true;
                _groupWidth = group;
                _barWidth = Math.Min(WidestBar, (group - (2 * Gap)) / chart.Series.Count);
                _labels = Wrap(group - Gap);
                return;
            }
        }

        _labels = Wrap(NamesWidth);
        _barWidth = LyingBar;
        _groupWidth = Math.Max(chart.Series.Count * LyingBar, _labels.Max(lines => lines.Count) * TextMeasure.LineHeight) + (2 * Gap);
    }

    public static XElement Draw(ResultChart chart)
    {
        BarChart drawing = new(chart);
        return drawing._isUpright ? drawing.DrawUpright() : drawing.DrawLying();
    }

    private static bool Fits(string name, double width)
        => name.Split(' ').All(word => TextMeasure.Width(word) <= width) && TextMeasure.Wrap(name, width).Count <= MostLines;

    private List<IReadOnlyList<string>> Wrap(double width) => [.. _chart.Categories.Select(name => TextMeasure.Wrap(name, width))];

    private double Middle(int group) => (group + 0.5) * _groupWidth;

    private XElement DrawUpright()
    {
        ChartScale scale = _values.Create(_shown, UprightTicks);
        ChartFrame frame = new(new ChartLayout(
            _chart,
            HasLines: false,
            BottomLabel: _chart.X,
            LeftLabel: _chart.Y,
            PlotWidth: _groupWidth * _labels.Count,
            PlotHeight,
            MarksWidth: scale.Ticks.Max(tick => TextMeasure.Width(tick.Label)),
            MarksHeight: _labels.Max(lines => lines.Count) * TextMeasure.LineHeight,
            Footnote: Footnote(scale)));
        ChartAxis axis = frame.AddVerticalAxis(scale);
        double ground = axis[scale.Ground];
        for (int i = 0; i < _labels.Count; i++)
        {
            frame.AddLines(_labels[i], frame.Left + Middle(i), frame.Bottom + 4, "middle");
        }

        AddBars(frame.Picture, (place, value) =>
            (frame.Left + place, Math.Min(ground, axis[value]), _barWidth, Math.Max(1, Math.Abs(axis[value] - ground))));
        frame.Picture.Add(SvgElements.Line(frame.Left, ground, frame.Right, ground, ChartFrame.AxisColour));
        return frame.Picture;
    }

    private XElement DrawLying()
    {
        ChartScale scale = _values.CreateAcross(_shown, PlotWidth);
        ChartFrame frame = new(new ChartLayout(
            _chart,
            HasLines: false,
            BottomLabel: _chart.Y,
            LeftLabel: _chart.X,
            PlotWidth,
            PlotHeight: _groupWidth * _labels.Count,
            MarksWidth: _labels.SelectMany(lines => lines).Max(line => TextMeasure.Width(line)),
            Overhang: TextMeasure.Width(scale.Ticks[^1].Label) / 2,
            Footnote: Footnote(scale)));
        ChartAxis axis = frame.AddHorizontalAxis(scale, hasGrid: true);
        double ground = axis[scale.Ground];
        for (int i = 0; i < _labels.Count; i++)
        {
            double top = frame.Top + Middle(i) - (_labels[i].Count * TextMeasure.LineHeight / 2.0);
            frame.AddLines(_labels[i], frame.Left - 8, top, "end");
        }

        AddBars(frame.Picture, (place, value) =>
            (Math.Min(ground, axis[value]), frame.Top + place, Math.Max(1, Math.Abs(axis[value] - ground)), _barWidth));
        frame.Picture.Add(SvgElements.Line(ground, frame.Top, ground, frame.Bottom, ChartFrame.AxisColour));
        return frame.Picture;
    }

    private string? Footnote(ChartScale scale)
        => ChartFrame.Footnote(_chart.Series.Sum(series => series.Points.Count(point => !_values.CanShow(point.Y))), scale);

    private void AddBars(XElement picture, Func<double, double, (double X, double Y, double Width, double Height)> place)
    {
        for (int i = 0; i < _chart.Series.Count; i++)
        {
            XElement group = SvgElements.Group(_chart.Series[i].Name);
            foreach (ResultPoint point in _chart.Series[i].Points.Where(point => _values.CanShow(point.Y)))
            {
                double bar = Middle((int)point.X) + ((i - (_chart.Series.Count / 2.0)) * _barWidth);
                (double x, double y, double width, double height) = place(bar, point.Y);
                group.Add(SvgElements.Rectangle(x, y, width, height, SeriesStyle.Of(i).Colour));
            }

            picture.Add(group);
        }
    }
}
