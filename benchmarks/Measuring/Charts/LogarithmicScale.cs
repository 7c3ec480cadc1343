namespace Measuring.Charts;

/// <summary>Scales on which equal ratios are equal distances. Marks are powers of two, or of ten with round numbers between.</summary>
internal static class LogarithmicScale
{
    // Sets of round numbers within a decade; the finest that does not crowd the axis is marked.
    private static readonly double[][] s_mantissas = [[1, 1.5, 2, 3, 4, 5, 6, 8], [1, 2, 5], [1]];

    // How many powers one mark may be apart from the next.
    private static readonly int[] s_strides = [1, 2, 4, 5, 10, 20, 50, 100];

    /// <summary>Returns a scale with up to <paramref name="ticks"/> powers of two marked.</summary>
    public static ChartScale OfTwo(double smallest, double largest, int ticks, bool isBytes)
    {
        int first = (int)Math.Floor(Math.Log2(smallest));
        int last = Math.Max(first + 1, (int)Math.Ceiling(Math.Log2(largest)));
        int stride = Stride(last - first, ticks);
        ILookup<bool, double> powers = Enumerable.Range(first, last - first + 1)
            .ToLookup(power => power % stride == 0, power => Math.Pow(2, power));
        List<ChartTick> marks = [.. powers[true].Select(value => new ChartTick(value, ChartScale.Format(value, isBytes)))];
        return new ChartScale(Math.Pow(2, first), Math.Pow(2, last), marks, [.. powers[false]], IsLogarithmic: true);
    }

    /// <summary>Returns a scale with up to <paramref name="ticks"/> powers of ten or round numbers marked.</summary>
    public static ChartScale OfTen(double smallest, double largest, int ticks)
    {
        double[] bounds = [.. RoundNumbers(smallest, largest, s_mantissas[1], around: 1)];
        double minimum = bounds.Last(value => value <= smallest * (1 + 1e-9));
        double maximum = bounds.First(value => value >= largest * (1 - 1e-9) && value > minimum);
        foreach (double[] mantissas in s_mantissas)
        {
            double[] marks = [.. Between(RoundNumbers(minimum, maximum, mantissas, around: 0), minimum, maximum)];
            if (marks.Length <= ticks && marks.Length >= 2)
            {
                double[] minor = [.. Between(RoundNumbers(minimum, maximum, [2, 3, 4, 5, 6, 7, 8, 9], around: 1), minimum, maximum)];
                return new ChartScale(minimum, maximum, Label(marks, arePowers: mantissas.Length == 1), minor, IsLogarithmic: true);
            }
        }

        int stride = Stride(Math.Log10(maximum / minimum), ticks);
        IEnumerable<double> powers = Between(RoundNumbers(minimum, maximum, [1], around: 0), minimum, maximum);
        List<ChartTick> labels = Label([.. powers.Where(value => Power(value) % stride == 0)], arePowers: true);
        return new ChartScale(minimum, maximum, labels, [], IsLogarithmic: true);
    }

    private static int Stride(double powers, int ticks)
        => s_strides.First(stride => (powers / stride) + 1 <= ticks || stride == s_strides[^1]);

    private static int Power(double value) => (int)Math.Round(Math.Log10(value));

    private static IEnumerable<double> RoundNumbers(double smallest, double largest, double[] mantissas, int around)
    {
        int first = (int)Math.Floor(Math.Log10(smallest)) - around;
        int last = (int)Math.Ceiling(Math.Log10(largest)) + around;
        return Enumerable.Range(first, last - first + 1).SelectMany(power => mantissas.Select(mantissa => Times(mantissa, power)));
    }

    // 3 * 10^-1 is not the number that is written 0.3, but 3 / 10 is.
    private static double Times(double mantissa, int power)
        => power < 0 ? mantissa / Math.Pow(10, -power) : mantissa * Math.Pow(10, power);

    private static IEnumerable<double> Between(IEnumerable<double> values, double minimum, double maximum)
        => values.Where(value => value >= minimum * (1 - 1e-9) && value <= maximum * (1 + 1e-9));

    // Long rows of zeros are not read but counted.
    private static List<ChartTick> Label(double[] values, bool arePowers)
    {
        bool asPowers = arePowers && values.Length > 0 && (values[^1] >= 1e6 || values[0] < 1e-3);
        return [.. values.Select(value => new ChartTick(value, asPowers ? "10" + Superscript(Power(value)) : ChartScale.Format(value)))];
    }

    private static string Superscript(int power)
        => string.Concat(power.ToString(CultureInfo.InvariantCulture).Select(c => c == '-' ? '⁻' : "⁰¹²³⁴⁵⁶⁷⁸⁹"[c - '0']));
}
