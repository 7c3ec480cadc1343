using System.Collections.Generic;

namespace Measuring.Results;

/// <summary>The kinds of charts.</summary>
public enum ChartKind
{
    Lines,

    Bars,
}

/// <summary>A point of a chart.</summary>
public readonly record struct ResultPoint(double X, double Y);

/// <summary>One line, or the bars of one colour.</summary>
public sealed record ResultSeries(string Name, IReadOnlyList<ResultPoint> Points);

/// <summary>A chart of one or more series over the same axes.</summary>
public sealed record ResultChart
{
    public required string Title { get; init; }

    public required ChartKind Kind { get; init; }

    public required string X { get; init; }

    public required string Y { get; init; }

    /// <summary>Gets a value indicating whether the horizontal axis is logarithmic. Lines only.</summary>
    public bool LogarithmicX { get; init; }

    public bool LogarithmicY { get; init; }

    /// <summary>Gets the names below the bars; a bar's <see cref="ResultPoint.X"/> is an index into them.</summary>
    public IReadOnlyList<string> Categories { get => field ?? []; init; }

    public required IReadOnlyList<ResultSeries> Series { get; init; }
}
