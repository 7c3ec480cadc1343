using System;
using System.Collections.Generic;
using System.Globalization;
using System.Linq;

namespace Decisions.Questions;

/// <summary>Puts computed figures into a sentence: no conclusion is worded by hand.</summary>
internal static class Ranking
{
    /// <summary>Returns <c>what: first 1.2 ms, second 3.4 ms</c>, the smallest first.</summary>
    public static string LeastFirst(string what, string unit, string format, IEnumerable<(string Name, double Value)> figures)
        => Write(what, unit, format, figures.OrderBy(figure => figure.Value));

    /// <summary>Returns <c>what: first 3.4 %, second 1.2 %</c>, the largest first.</summary>
    public static string MostFirst(string what, string unit, string format, IEnumerable<(string Name, double Value)> figures)
        => Write(what, unit, format, figures.OrderByDescending(figure => figure.Value));

    /// <summary>Returns a number as text, the same everywhere.</summary>
    public static string Text(double value, string format) => value.ToString(format, CultureInfo.InvariantCulture);

    /// <summary>Returns a text with figures in it, the same everywhere.</summary>
    public static string Invariant(FormattableString text) => text.ToString(CultureInfo.InvariantCulture);

    private static string Write(string what, string unit, string format, IEnumerable<(string Name, double Value)> figures)
        => $"{what}: {string.Join(", ", figures.Select(figure => $"{figure.Name} {Text(figure.Value, format)} {unit}".TrimEnd()))}.";
}
