using System.Collections.Generic;

namespace Measuring.Results;

/// <summary>A table of figures: each row has some labels, then as many values as there are columns.</summary>
public sealed record ResultTable
{
    /// <summary>Gets what the table shows.</summary>
    public required string Title { get; init; }

    /// <summary>Gets the headings of the labels.</summary>
    public required IReadOnlyList<string> Labels { get; init; }

    /// <summary>Gets the headings, units and formats of the values.</summary>
    public required IReadOnlyList<ResultColumn> Columns { get; init; }

    /// <summary>Gets the rows.</summary>
    public required IReadOnlyList<ResultRow> Rows { get; init; }
}
