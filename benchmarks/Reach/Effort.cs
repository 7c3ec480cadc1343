using System;
using Measuring.Timing;

namespace Reach;

/// <summary>How much time is spent on a figure.</summary>
/// <param name="Rounds">The rounds of which the median is taken.</param>
/// <param name="Sample">How long an operation is repeated in a round.</param>
internal sealed record Effort(int Rounds, TimeSpan Sample)
{
    /// <summary>Gets what it takes for figures that are worth keeping.</summary>
    public static Effort Full { get; } = new(31, TimeSpan.FromMilliseconds(60));

    /// <summary>Gets what it takes to see gross regressions.</summary>
    public static Effort Brief { get; } = new(7, TimeSpan.FromMilliseconds(12));

    /// <summary>Starts a comparison.</summary>
    public SideBySide Compare() => new(Rounds, Sample);

    /// <summary>Starts a comparison of operations that take milliseconds each.</summary>
    public SideBySide CompareLong() => new(Math.Max(5, Rounds / 3), Sample);
}
