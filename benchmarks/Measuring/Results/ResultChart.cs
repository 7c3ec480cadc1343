using System.Collections.Generic;

namespace Measuring.Results;

/// <summary>A chart of one or more series over the same axes.</summary>
public sealed record ResultChart
{
    /// <summary>Gets what the chart shows.</summary>
    public required string Title { get; init; }

    /// <summary>Gets whether it has lines over a number or bars over names.</summary>
    public required ChartKind Kind { get; init; }

    /// <summary>Gets the label of the horizontal axis, with its unit.</summary>
    public required string X { get; init; }

    /// <summary>Gets the label of the vertical axis, with its unit.</summary>
    public required string Y { get; init; }

    /// <summary>Gets a value indicating whether the horizontal axis is logarithmic. Lines only.</summary>
    public bool LogarithmicX { get; init; }

    /// <summary>Gets a value indicating whether the vertical axis is logarithmic.</summary>
    public bool LogarithmicY { get; init; }

    /// <summary>Gets the names below the bars; a bar's <see cref="ResultPoint.X"/> is an index into them.</summary>
    public IReadOnlyList<string> Categories { get => field ?? []; init; }

    /// <summary>Gets the series.</summary>
    public required IReadOnlyList<ResultSeries> Series { get; init; }
}
