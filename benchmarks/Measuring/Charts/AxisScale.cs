using System;
using System.Collections.Generic;
using System.Linq;

namespace Measuring.Charts;

/// <summary>Chooses the scale of an axis from what it has to show.</summary>
internal sealed record AxisScale
{
    // With fewer, the marks of an axis that begins and ends at odd values may all lie outside of it.
    private const int FewestTicks = 4;

    public required string Label { get; init; }

    public required bool IsLogarithmic { get; init; }

    /// <summary>
    /// Gets a value indicating whether bars stand on this axis: they begin at zero, and the least of them can be seen on a logarithmic
    /// axis too.
    /// </summary>
    public bool HasBars { get; init; }

    public bool IsTight { get; init; }

    public bool CanShow(double value) => double.IsFinite(value) && (!IsLogarithmic || value > 0);

    /// <summary>
    /// Returns the scale for <paramref name="values"/>, all of which can be shown, with at most about <paramref name="ticks"/> marks.
    /// </summary>
    public ChartScale Create(IReadOnlyCollection<double> values, int ticks)
    {
        AxisUnit unit = AxisUnit.Of(Label);
        if (!IsLogarithmic)
        {
            return LinearScale.Around(values, ticks, unit, withZero: HasBars, tight: IsTight);
        }

        double smallest = values.Min() / (HasBars ? 2 : 1);
        return unit.IsBytes || (IsTight && values.All(IsPowerOfTwo))
            ? LogarithmicScale.OfTwo(smallest, values.Max(), ticks, unit)
            : LogarithmicScale.OfTen(smallest, values.Max(), ticks);
    }

    /// <summary>Returns the scale with as many marks as have room beside each other on <paramref name="width"/> pixels.</summary>
    public ChartScale CreateAcross(IReadOnlyCollection<double> values, double width)
    {
        for (int ticks = 12; ; ticks--)
        {
            ChartScale scale = Create(values, ticks);
            if (ticks == FewestTicks || HasRoom(scale, width))
            {
                return scale;
            }
        }
    }

    private static bool HasRoom(ChartScale scale, double width)
    {
        const double Gap = 10;
        return scale.Ticks.Zip(scale.Ticks.Skip(1)).All(pair =>
            (scale.Locate(pair.Second.Value) - scale.Locate(pair.First.Value)) * width
                >= Gap + ((TextMeasure.Width(pair.First.Label) + TextMeasure.Width(pair.Second.Label)) / 2));
    }

    private static bool IsPowerOfTwo(double value) => double.IsInteger(Math.Log2(value));
}
