using System.IO;
using System.Linq;
using System.Xml.Linq;
using Measuring.Results;

namespace Measuring.Charts;

/// <summary>Draws the charts of results.</summary>
public static class ChartPicture
{
    /// <summary>Returns <paramref name="chart"/> as the content of an SVG file, the same for the same chart.</summary>
    /// <exception cref="InvalidDataException">A bar stands over a name that is not there.</exception>
    public static string Draw(ResultChart chart)
    {
        XElement picture = chart.Kind == ChartKind.Bars ? DrawBars(chart) : LineChart.Draw(chart);
        return SvgElements.ToText(picture);
    }

    private static XElement DrawBars(ResultChart chart)
    {
        foreach (double place in chart.Series.SelectMany(series => series.Points).Select(point => point.X))
        {
            if (!double.IsInteger(place) || place < 0 || place >= chart.Categories.Count)
            {
                throw new InvalidDataException($"The chart \"{chart.Title}\" has a bar over name {place}; it has the names 0 to "
                    + $"{chart.Categories.Count - 1}.");
            }
        }

        return BarChart.Draw(chart);
    }
}
