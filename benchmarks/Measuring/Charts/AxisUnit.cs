using System;
using System.Globalization;
using System.Linq;

namespace Measuring.Charts;

/// <summary>What the values of an axis count, which decides how the marks are written.</summary>
public sealed record AxisUnit
{
    private static readonly string[] s_byteUnits = ["B", "KB", "MB", "GB", "TB", "PB"];

    private AxisUnit(bool isBytes)
    {
        IsBytes = isBytes;
    }

    public static AxisUnit Number { get; } = new(isBytes: false);

    public static AxisUnit Bytes { get; } = new(isBytes: true);

    public bool IsBytes { get; }

    /// <summary>
    /// Returns the unit of an axis whose label is <paramref name="label"/>: bytes where it ends in that word, as in <c>size, bytes</c>
    /// and <c>size (bytes)</c>.
    /// </summary>
    public static AxisUnit Of(string label)
    {
        string word = label.Split(' ', ',', '(', ')').LastOrDefault(part => part.Length > 0) ?? "";
        return word is "B" || word.Equals("bytes", StringComparison.OrdinalIgnoreCase) ? Bytes : Number;
    }

    public string Format(double value)
    {
        if (!IsBytes)
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
