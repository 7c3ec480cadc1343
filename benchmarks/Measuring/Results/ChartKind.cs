namespace Measuring.Results;

/// <summary>The kinds of charts.</summary>
public enum ChartKind
{
    /// <summary>A line for each series, over a number.</summary>
    Lines,

    /// <summary>A bar for each series, over each name.</summary>
    Bars,
}
