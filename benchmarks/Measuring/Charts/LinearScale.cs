using System;
using System.Collections.Generic;
using System.Linq;

namespace Measuring.Charts;

/// <summary>A scale on which equal differences are equal distances.</summary>
public sealed class LinearScale : ChartScale
{
    private readonly List<ChartTick> _ticks = [];

    private LinearScale(double minimum, double maximum, double step, AxisUnit unit)
    {
        Minimum = minimum;
        Maximum = maximum;

        // Counted, not summed up: ten times 0.1 is not 1. And what is rounded up to zero is written -0 unless zero is added.
        double slack = step * 1e-6;
        for (double i = Math.Ceiling((minimum - slack) / step) + 0.0; i * step <= maximum + slack; i++)
        {
            _ticks.Add(new ChartTick(i * step, unit.Format(i * step)));
        }
    }

    public override IReadOnlyList<ChartTick> Ticks => _ticks;

    public override double Minimum { get; }

    public override double Maximum { get; }

    /// <summary>
    /// Returns a scale from zero to <paramref name="largest"/>, or to the mark above it where <paramref name="roundUp"/> is true,
    /// with up to <paramref name="ticks"/> marks above zero.
    /// </summary>
    public static LinearScale FromZero(double largest, int ticks, bool roundUp)
    {
        double step = Step(Math.Max(largest, 1e-3) / ticks, AxisUnit.Number);
        return new LinearScale(0, roundUp ? step * Math.Ceiling(Math.Max(largest, step) / step) : largest, step, AxisUnit.Number);
    }

    /// <summary>
    /// Returns a scale for <paramref name="values"/>, with about <paramref name="ticks"/> marks. It begins at zero unless all values are
    /// so far from
    /// zero that half the axis would be empty; with <paramref name="withZero"/>, as bars need it, it has zero in any case.
    /// </summary>
    /// <param name="tight">Whether the scale ends at the last value, instead of at the mark beyond it.</param>
    public static LinearScale Around(IReadOnlyCollection<double> values, int ticks, AxisUnit unit, bool withZero, bool tight)
    {
        (double smallest, double largest) = (values.Min(), values.Max());
        smallest = smallest > 0 && (withZero || smallest <= largest / 2) ? 0 : smallest;
        largest = largest < 0 && (withZero || largest >= smallest / 2) ? 0 : largest;
        double step = Step((largest - smallest) / ticks, unit);
        if (values.All(double.IsInteger))
        {
            step = Math.Max(1, step);
        }

        if (tight && largest > smallest)
        {
            return new LinearScale(smallest, largest, step, unit);
        }

        double minimum = step * Math.Floor(smallest / step);
        double maximum = step * Math.Ceiling(largest / step);
        return new LinearScale(minimum, maximum > minimum ? maximum : minimum + step, step, unit);
    }

    public override double Locate(double value) => (value - Minimum) / (Maximum - Minimum);

    // The next round step that is not below the least one; 1 where all values are the same.
    private static double Step(double least, AxisUnit unit)
    {
        if (!(least > 0))
        {
            return 1;
        }

        if (unit.IsBytes)
        {
            return Math.Max(1, Math.Pow(2, Math.Ceiling(Math.Log2(least))));
        }

        double magnitude = Math.Pow(10, Math.Floor(Math.Log10(least)));
        return magnitude * ((least / magnitude) switch { <= 1 => 1, <= 2 => 2, <= 5 => 5, _ => 10 });
    }
}
