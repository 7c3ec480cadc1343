using System;
using System.Collections.Generic;
using System.Linq;
using System.Xml.Linq;
using Measuring.Results;

namespace Measuring.Charts;

/// <summary>Draws groups of bars over names: upright, or lying where the names would not fit below them.</summary>
internal sealed class BarChart
{
    private const int UprightTicks = 8;
    private const double PlotWidth = 680;
    private const double PlotHeight = 380;

    private readonly ResultChart _chart;
    private readonly AxisScale _values;
    private readonly List<double> _shown;
    private readonly BarGroups _groups;

    private BarChart(ResultChart chart)
    {
        _chart = chart;
        _values = new AxisScale { Label = chart.Y, IsLogarithmic = chart.LogarithmicY, HasBars = true };
        _shown = [.. chart.Series.SelectMany(series => series.Points).Select(point => point.Y).Where(_values.CanShow)];
        _groups = BarGroups.Arrange(chart.Categories, chart.Series.Count, PlotWidth);
    }

    public static XElement Draw(ResultChart chart)
    {
        BarChart drawing = new(chart);
        return drawing._shown.Count == 0 ? EmptyChart.Draw(chart)
            : drawing._groups.AreUpright ? drawing.DrawUpright()
            : drawing.DrawLying();
    }

    private XElement DrawUpright()
    {
        ChartScale scale = _values.Create(_shown, UprightTicks);
        ChartFrame frame = new(Layout(scale) with
        {
            BottomLabel = _chart.X,
            LeftLabel = _chart.Y,
            MarksWidth = scale.Ticks.Max(tick => TextMeasure.Width(tick.Label)),
            MarksHeight = _groups.LabelHeight,
            PlotWidth = _groups.Length,
            PlotHeight = PlotHeight,
        });
        ChartAxis axis = frame.AddVerticalAxis(scale);
        double ground = axis[Ground(scale)];
        for (int i = 0; i < _groups.Labels.Count; i++)
        {
            ChartFrame.AddLines(frame.Picture, _groups.Labels[i], frame.Left + _groups.Middle(i), frame.Bottom + 4, "middle");
        }

        AddBars(frame.Picture, (place, value) =>
            (frame.Left + place, Math.Min(ground, axis[value]), _groups.BarWidth, Math.Max(1, Math.Abs(axis[value] - ground))));
        frame.Picture.Add(SvgElements.Line(frame.Left, ground, frame.Right, ground, "#666"));
        return frame.Picture;
    }

    private XElement DrawLying()
    {
        ChartScale scale = _values.CreateAcross(_shown, PlotWidth);
        ChartFrame frame = new(Layout(scale) with
        {
            BottomLabel = _chart.Y,
            LeftLabel = _chart.X,
            MarksWidth = _groups.Labels.SelectMany(lines => lines).Max(line => TextMeasure.Width(line)),
            Overhang = TextMeasure.Width(scale.Ticks[^1].Label) / 2,
            PlotWidth = PlotWidth,
            PlotHeight = _groups.Length,
        });
        ChartAxis axis = frame.AddHorizontalAxis(scale, hasGrid: true);
        double ground = axis[Ground(scale)];
        for (int i = 0; i < _groups.Labels.Count; i++)
        {
            double top = frame.Top + _groups.Middle(i) - (_groups.Labels[i].Count * TextMeasure.LineHeight / 2.0);
            ChartFrame.AddLines(frame.Picture, _groups.Labels[i], frame.Left - 8, top, "end");
        }

        AddBars(frame.Picture, (place, value) =>
            (Math.Min(ground, axis[value]), frame.Top + place, Math.Max(1, Math.Abs(axis[value] - ground)), _groups.BarWidth));
        frame.Picture.Add(SvgElements.Line(ground, frame.Top, ground, frame.Bottom, "#666"));
        return frame.Picture;
    }

    private static double Ground(ChartScale scale) => scale.CanShow(0) ? 0 : scale.Minimum;

    private void AddBars(XElement picture, Func<double, double, (double X, double Y, double Width, double Height)> place)
    {
        for (int i = 0; i < _chart.Series.Count; i++)
        {
            XElement group = SvgElements.Group(_chart.Series[i].Name);
            foreach (ResultPoint point in _chart.Series[i].Points.Where(point => _values.CanShow(point.Y)))
            {
                (double x, double y, double width, double height) = place(_groups.Bar((int)point.X, i), point.Y);
                group.Add(SvgElements.Rectangle(x, y, width, height, SeriesStyle.Of(i).Colour));
            }

            picture.Add(group);
        }
    }

    private ChartLayout Layout(ChartScale scale) => new()
    {
        Title = _chart.Title,
        Legend = [.. _chart.Series.Select((series, i) => (series.Name, SeriesStyle.Of(i)))],
        HasLines = false,
        BottomLabel = "",
        LeftLabel = "",
        MarksWidth = 0,
        PlotWidth = 0,
        PlotHeight = 0,
        Footnote = ChartFootnote.Create(_chart.Series.Sum(series => series.Points.Count) - _shown.Count, scale),
    };
}
