using System.Collections.Generic;

namespace Measuring.Results;

/// <summary>A table of figures: each row has some labels, then as many values as there are columns.</summary>
public sealed record ResultTable
{
    public required string Title { get; init; }

    public required IReadOnlyList<string> Labels { get; init; }

    public required IReadOnlyList<ResultColumn> Columns { get; init; }

    public required IReadOnlyList<ResultRow> Rows { get; init; }
}
