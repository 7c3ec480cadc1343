using System;
using System.Collections.Generic;
using System.Linq;
using Measuring.Timing;

namespace Decisions.TrimLatency;

/// <summary>All windows of one subject: <see cref="Alone"/>[i] and <see cref="Trimmed"/>[i] ran right after one another.</summary>
internal sealed record SubjectFigures(string Name, IReadOnlyList<WindowFigures> Alone, IReadOnlyList<WindowFigures> Trimmed)
{
    /// <summary>Returns, for one of <see cref="WindowFigures.Fractions"/>, the median over the rounds of trimmed divided by untrimmed.</summary>
    public double Ratio(int fraction)
        => Statistics.Median(Trimmed.Zip(Alone, (trimmed, alone) => trimmed.Latencies[fraction] / alone.Latencies[fraction]));

    /// <summary>Returns the median over the rounds of any figure.</summary>
    public static double Median(IReadOnlyList<WindowFigures> windows, Func<WindowFigures, double> figure) => Statistics.Median(windows.Select(figure));
}
