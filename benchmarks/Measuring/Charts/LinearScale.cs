namespace Measuring.Charts;

/// <summary>Scales on which equal differences are equal distances.</summary>
public static class LinearScale
{
    /// <summary>
    /// Returns a scale from zero to <paramref name="largest"/>, or to the mark above it where <paramref name="roundUp"/> is true, with up
    /// to <paramref name="ticks"/> marks above zero.
    /// </summary>
    public static ChartScale FromZero(double largest, int ticks, bool roundUp)
    {
        double step = Step(Math.Max(largest, 1e-3) / ticks, isBytes: false);
        return Create(0, roundUp ? step * Math.Ceiling(Math.Max(largest, step) / step) : largest, step, isBytes: false);
    }

    /// <summary>
    /// Returns a scale for <paramref name="values"/>, with about <paramref name="ticks"/> marks. It begins at zero unless half the axis
    /// would be empty; with <paramref name="withZero"/>, as bars need it, it has zero in any case.
    /// </summary>
    internal static ChartScale Around(IReadOnlyCollection<double> values, int ticks, bool isBytes, bool withZero, bool tight)
    {
        (double smallest, double largest) = (values.Min(), values.Max());
        smallest = smallest > 0 && (withZero || smallest <= largest / 2) ? 0 : smallest;
        largest = largest < 0 && (withZero || largest >= smallest / 2) ? 0 : largest;
        double step = Step((largest - smallest) / ticks, isBytes);
        if (values.All(double.IsInteger))
        {
            step = Math.Max(1, step);
        }

        if (tight && largest > smallest)
        {
            return Create(smallest, largest, step, isBytes);
        }

        double minimum = step * Math.Floor(smallest / step);
        double maximum = step * Math.Ceiling(largest / step);
        return Create(minimum, maximum > minimum ? maximum : minimum + step, step, isBytes);
    }

    private static ChartScale Create(double minimum, double maximum, double step, bool isBytes)
    {
        // Counted, not summed up: ten times 0.1 is not 1. And what is rounded up to zero is written -0 unless zero is added.
        List<ChartTick> ticks = [];
        double slack = step * 1e-6;
        for (double i = Math.Ceiling((minimum - slack) / step) + 0.0; i * step <= maximum + slack; i++)
        {
            ticks.Add(new ChartTick(i * step, ChartScale.Format(i * step, isBytes)));
        }

        return new ChartScale(minimum, maximum, ticks, [], IsLogarithmic: false);
    }

    // The next round step that is not below the least one; 1 where all values are the same.
    private static double Step(double least, bool isBytes)
    {
        if (!(least > 0))
        {
            return 1;
        }

        if (isBytes)
        {
            return Math.Max(1, Math.Pow(2, Math.Ceiling(Math.Log2(least))));
        }

        double magnitude = Math.Pow(10, Math.Floor(Math.Log10(least)));
        return magnitude * ((least / magnitude) switch { <= 1 => 1, <= 2 => 2, <= 5 => 5, _ => 10 });
    }
}
