namespace Reach;

/// <summary>One figure that the project wants to reach, and what it is.</summary>
internal sealed record Figure
{
    /// <summary>Gets what was measured.</summary>
    public required string What { get; init; }

    /// <summary>Gets what it was measured against, or the unit of an absolute figure.</summary>
    public required string Against { get; init; }

    /// <summary>Gets the measured value; null where this machine cannot show it.</summary>
    public required double? Measured { get; init; }

    /// <summary>Gets what is to be reached.</summary>
    public required double Limit { get; init; }

    /// <summary>Gets what would be better still, or null.</summary>
    public double? Aim { get; init; }

    /// <summary>Gets whether more is better.</summary>
    public bool MoreIsBetter { get; init; }

    /// <summary>
    /// Gets by which factor a figure of a noisy machine may miss <see cref="Limit"/> before <c>--check</c> calls it a regression. 1 for counts, which are the same on every machine.
    /// </summary>
    public double Margin { get; init; } = 1;

    /// <summary>Gets the words for how far it came.</summary>
    public string Verdict => Measured is not { } value ? "not here"
        : Aim is { } aim && Meets(value, aim) ? "aim"
        : Meets(value, Limit) ? "reached"
        : "no";

    /// <summary>Gets the words for what is to be reached.</summary>
    public string Wanted
    {
        get
        {
            string sign = MoreIsBetter ? "≥" : "≤";
            return Aim is { } aim ? System.FormattableString.Invariant($"{sign} {Limit} (aim {aim})") : System.FormattableString.Invariant($"{sign} {Limit}");
        }
    }

    /// <summary>Gets whether the figure is so bad that it cannot be noise.</summary>
    public bool IsRegression => Measured is { } value && !Meets(value, MoreIsBetter ? Limit / Margin : Limit * Margin);

    private bool Meets(double value, double limit) => MoreIsBetter ? value >= limit : value <= limit;
}
