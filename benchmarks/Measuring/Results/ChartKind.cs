namespace Measuring.Results;

/// <summary>The kinds of charts.</summary>
public enum ChartKind
{
    Lines,

    Bars,
}
