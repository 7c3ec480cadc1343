using System;
using System.Collections.Generic;
using System.Linq;

namespace Measuring.Charts;

/// <summary>Where the bars of a chart stand along the axis of names. All lengths are in pixels.</summary>
internal sealed class BarGroups(bool areUpright, IReadOnlyList<IReadOnlyList<string>> labels, int series, double group, double bar)
{
    private const double WidestUprightPlot = 1000;
    private const double WidestBar = 44;
    private const double ThinnestUprightBar = 6;
    private const double LyingBar = 13;
    private const double Gap = 8;
    private const double NamesWidth = 240;
    private const int MostLines = 3;

    private readonly int _series = series;
    private readonly double _group = group;

    public bool AreUpright { get; } = areUpright;

    public IReadOnlyList<IReadOnlyList<string>> Labels { get; } = labels;

    public double BarWidth { get; } = bar;

    public double Length => _group * Labels.Count;

    public double LabelHeight => Labels.Max(lines => lines.Count) * TextMeasure.LineHeight;

    /// <summary>
    /// Arranges groups of <paramref name="series"/> bars over <paramref name="names"/>, on <paramref name="width"/> pixels if that can
    /// be.
    /// </summary>
    public static BarGroups Arrange(IReadOnlyList<string> names, int series, double width)
    {
        int count = Math.Max(1, names.Count);
        double least = Math.Max(width / count, (series * ThinnestUprightBar) + (2 * Gap));
        foreach (double group in (double[])[least, Math.Max(least, WidestUprightPlot / count)])
        {
            if (group * count <= WidestUprightPlot && names.All(name => Fits(name, group - Gap)))
            {
                return new BarGroups(
                    true, [.. names.Select(name => TextMeasure.Wrap(name, group - Gap))], series, group, Math.Min(WidestBar, (group - (2 * Gap)) / series));
            }
        }

        List<IReadOnlyList<string>> labels = [.. names.Select(name => TextMeasure.Wrap(name, NamesWidth))];
        double height = Math.Max(series * LyingBar, labels.Max(lines => lines.Count) * TextMeasure.LineHeight);
        return new BarGroups(false, labels, series, height + (2 * Gap), LyingBar);
    }

    public double Middle(int group) => (group + 0.5) * _group;

    public double Bar(int group, int series) => Middle(group) + ((series - (_series / 2.0)) * BarWidth);

    private static bool Fits(string name, double width)
        => name.Split(' ').All(word => TextMeasure.Width(word) <= width) && TextMeasure.Wrap(name, width).Count <= MostLines;
}
