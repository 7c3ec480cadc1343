namespace Measuring.Charts;

/// <summary>A mark on an axis.</summary>
public readonly record struct ChartTick(double Value, string Label);

/// <summary>A scale laid over a range of coordinates.</summary>
public readonly record struct ChartAxis(ChartScale Scale, double From, double To)
{
    public double this[double value] => From + ((To - From) * Scale.Locate(value));
}

/// <summary>The values that an axis shows, and the marks on it.</summary>
public sealed record ChartScale(double Minimum, double Maximum, IReadOnlyList<ChartTick> Ticks, bool IsLogarithmic = false)
{
    private static readonly string[] s_byteUnits = ["B", "KB", "MB", "GB"];

    /// <summary>Returns where <paramref name="value"/> lies: 0 at the near end of the axis, 1 at the far one.</summary>
    public double Locate(double value)
        => IsLogarithmic ? Math.Log(value / Minimum) / Math.Log(Maximum / Minimum) : (value - Minimum) / (Maximum - Minimum);

    /// <summary>
    /// Returns a scale on which equal ratios are equal distances, from the power below <paramref name="smallest"/> to the one above
    /// <paramref name="largest"/>: powers of two for bytes and numbers of threads, else of ten.
    /// </summary>
    internal static ChartScale Logarithmic(double smallest, double largest, bool isTwo, bool isBytes)
    {
        double root = isTwo ? 2 : 10;
        int first = (int)Math.Floor(Math.Log(smallest, root) + 1e-9);
        int last = Math.Max(first + 1, (int)Math.Ceiling(Math.Log(largest, root) - 1e-9));
        int stride = 1 + ((last - first) / 12);
        return new ChartScale(
            Math.Pow(root, first),
            Math.Pow(root, last),
            [
                .. Enumerable.Range(first, last - first + 1).Where(power => (power - first) % stride == 0)
                    .Select(power => new ChartTick(Math.Pow(root, power), Format(Math.Pow(root, power), isBytes))),
            ],
            IsLogarithmic: true);
    }

    private static string Format(double value, bool isBytes)
    {
        int unit = 0;
        for (; isBytes && value >= 1024 && unit < s_byteUnits.Length - 1; unit++)
        {
            value /= 1024;
        }

        return value.ToString("#,0.######", CultureInfo.InvariantCulture) + (isBytes ? " " + s_byteUnits[unit] : "");
    }
}

/// <summary>Scales on which equal differences are equal distances.</summary>
public static class LinearScale
{
    /// <summary>
    /// Returns a scale from zero to <paramref name="largest"/>, or to the mark above it where <paramref name="roundUp"/> is true, with up
    /// to <paramref name="ticks"/> marks above zero.
    /// </summary>
    public static ChartScale FromZero(double largest, int ticks, bool roundUp)
    {
        // The next round step: 1, 2 or 5 times a power of ten.
        double least = Math.Max(largest, 1e-3) / ticks;
        double magnitude = Math.Pow(10, Math.Floor(Math.Log10(least)));
        double step = magnitude * ((least / magnitude) switch { <= 1 => 1, <= 2 => 2, <= 5 => 5, _ => 10 });
        double maximum = roundUp ? step * Math.Ceiling(Math.Max(largest, step) / step) : largest;

        // Counted, not summed up: ten times 0.1 is not 1.
        return new ChartScale(
            0,
            maximum,
            [
                .. Enumerable.Range(0, (int)((maximum / step) + 1e-6) + 1)
                    .Select(i => new ChartTick(i * step, (i * step).ToString("#,0.##########", CultureInfo.InvariantCulture))),
            ]);
    }
}
