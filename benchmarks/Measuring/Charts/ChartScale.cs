namespace Measuring.Charts;

/// <summary>A mark on an axis.</summary>
public readonly record struct ChartTick(double Value, string Label);

/// <summary>A scale laid over a range of coordinates.</summary>
public readonly record struct ChartAxis(ChartScale Scale, double From, double To)
{
    public double this[double value] => From + ((To - From) * Scale.Locate(value));
}

/// <summary>The values that an axis shows, and the marks on it.</summary>
public sealed record ChartScale(
    double Minimum, double Maximum, IReadOnlyList<ChartTick> Ticks, IReadOnlyList<double> MinorTicks, bool IsLogarithmic)
{
    private static readonly string[] s_byteUnits = ["B", "KB", "MB", "GB", "TB", "PB"];

    /// <summary>Gets where bars begin.</summary>
    public double Ground => IsLogarithmic ? Minimum : 0;

    /// <summary>Returns where <paramref name="value"/> lies: 0 at the near end of the axis, 1 at the far one.</summary>
    public double Locate(double value)
        => IsLogarithmic ? Math.Log(value / Minimum) / Math.Log(Maximum / Minimum) : (value - Minimum) / (Maximum - Minimum);

    public static string Format(double value, bool isBytes = false)
    {
        if (!isBytes)
        {
            return value.ToString("#,0.##########", CultureInfo.InvariantCulture);
        }

        int unit = 0;
        for (; Math.Abs(value) >= 1024 && unit < s_byteUnits.Length - 1; unit++)
        {
            value /= 1024;
        }

        return string.Create(CultureInfo.InvariantCulture, $"{value:#,0.##} {s_byteUnits[unit]}");
    }
}

/// <summary>Chooses the scale of an axis from what it has to show.</summary>
/// <param name="HasBars">Whether bars stand on it: they begin at zero, and the least of them shows on a logarithmic axis too.</param>
/// <param name="IsTight">Whether it ends at the last value, instead of at the mark beyond it.</param>
internal sealed record AxisScale(string Label, bool IsLogarithmic, bool HasBars = false, bool IsTight = false)
{
    // With fewer, the marks of an axis that begins and ends at odd values may all lie outside of it.
    private const int FewestTicks = 4;
    private const double Gap = 10;

    // A size in bytes has the word at the end of its label.
    private bool IsBytes => Label.TrimEnd(')').EndsWith("bytes", StringComparison.OrdinalIgnoreCase);

    public bool CanShow(double value) => double.IsFinite(value) && (!IsLogarithmic || value > 0);

    /// <summary>Returns the scale for <paramref name="values"/>, with at most about <paramref name="ticks"/> marks.</summary>
    public ChartScale Create(IReadOnlyCollection<double> values, int ticks)
    {
        if (!IsLogarithmic)
        {
            return LinearScale.Around(values, ticks, IsBytes, withZero: HasBars, tight: IsTight);
        }

        double smallest = values.Min() / (HasBars ? 2 : 1);
        return IsBytes || (IsTight && values.All(value => double.IsInteger(Math.Log2(value))))
            ? LogarithmicScale.OfTwo(smallest, values.Max(), ticks, IsBytes)
            : LogarithmicScale.OfTen(smallest, values.Max(), ticks);
    }

    /// <summary>Returns the scale with as many marks as have room beside each other on <paramref name="width"/> pixels.</summary>
    public ChartScale CreateAcross(IReadOnlyCollection<double> values, double width)
    {
        for (int ticks = 12; ; ticks--)
        {
            ChartScale scale = Create(values, ticks);
            if (ticks == FewestTicks || scale.Ticks.Zip(scale.Ticks.Skip(1)).All(pair => HasRoom(scale, pair.First, pair.Second, width)))
            {
                return scale;
            }
        }
    }

    private static bool HasRoom(ChartScale scale, ChartTick first, ChartTick second, double width)
        => (scale.Locate(second.Value) - scale.Locate(first.Value)) * width
            >= Gap + ((TextMeasure.Width(first.Label) + TextMeasure.Width(second.Label)) / 2);
}
