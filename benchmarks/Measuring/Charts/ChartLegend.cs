namespace Measuring.Charts;

/// <summary>The names of the series with a sample of each, in rows above the plot.</summary>
internal sealed class ChartLegend
{
    private const double LineSample = 34;
    private const double BarSample = 14;
    private const double Gap = 8;
    private const double Space = 20;
    private const double RowHeight = 20;

    private readonly List<(string Name, double X, int Row)> _entries = [];
    private readonly bool _hasLines;
    private readonly bool _isDense;
    private readonly double _sampleWidth;

    /// <summary>Arranges the names on <paramref name="width"/> pixels. One series needs no legend: the title names it.</summary>
    public ChartLegend(ResultChart chart, bool hasLines, double width)
    {
        _hasLines = hasLines;
        _isDense = hasLines && LineChart.IsDense(chart);
        _sampleWidth = hasLines ? LineSample : BarSample;
        (double x, int row) = (0, 0);
        foreach (string name in chart.Series.Count > 1 ? chart.Series.Select(series => series.Name) : [])
        {
            double entry = _sampleWidth + Gap + TextMeasure.Width(name);
            (x, row) = x > 0 && x + entry > width ? (0, row + 1) : (x, row);
            _entries.Add((name, x, row));
            Width = Math.Max(Width, x + entry);
            x += entry + Space;
        }

        Height = _entries.Count == 0 ? 0 : (row + 1) * RowHeight;
    }

    public double Width { get; }

    public double Height { get; }

    public void AddTo(XElement picture, double left, double top)
    {
        foreach ((int i, (string name, double x, int row)) in _entries.Index())
        {
            SeriesStyle style = SeriesStyle.Of(i, _isDense);
            double middle = top + ((row + 0.5) * RowHeight);
            if (_hasLines)
            {
                string stroke = Invariant($"M{left + x:0.#} {middle:0.#}h{LineSample}");
                picture.Add(SvgElements.Path(stroke, style.Colour, LineChart.LineWidth, dashes: style.Dashes));
                picture.Add(style.MarkAt(left + x + (LineSample / 2), middle));
            }
            else
            {
                picture.Add(SvgElements.Rectangle(left + x, middle - (BarSample / 2), BarSample, BarSample, style.Colour));
            }

            picture.Add(SvgElements.Text(left + x + _sampleWidth + Gap, middle + 4.5, name));
        }
    }
}
