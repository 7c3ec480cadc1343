using System.Xml.Linq;
using Measuring.Results;

namespace Measuring.Charts;

/// <summary>Says that there is nothing to be drawn.</summary>
internal static class EmptyChart
{
    /// <summary>Returns the picture of <paramref name="chart"/>, which has no value that could be drawn.</summary>
    public static XElement Draw(ResultChart chart)
    {
        ChartFrame frame = new(new ChartLayout
        {
            Title = chart.Title,
            Legend = [],
            HasLines = false,
            BottomLabel = chart.X,
            LeftLabel = chart.Y,
            MarksWidth = 0,
            PlotWidth = 480,
            PlotHeight = 120,
        });
        frame.Picture.Add(SvgElements.Line(frame.Left, frame.Top, frame.Left, frame.Bottom, "#666"), SvgElements.Line(frame.Left, frame.Bottom, frame.Right, frame.Bottom, "#666"));
        frame.Picture.Add(SvgElements.Text((frame.Left + frame.Right) / 2, (frame.Top + frame.Bottom) / 2, "no values", "middle"));
        return frame.Picture;
    }
}
