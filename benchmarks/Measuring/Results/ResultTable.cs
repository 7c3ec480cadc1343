using System.Collections.Generic;

namespace Measuring.Results;

/// <summary>How a value is shown.</summary>
/// <param name="Unit">The unit (<c>ns</c>, <c>MB</c>, <c>×</c>), or null where the value is a count.</param>
/// <param name="Format">The .NET format of the number, for instance <c>0.0</c> or <c>N0</c>.</param>
public sealed record ResultColumn(string Name, string? Unit, string Format);

/// <summary>One row of a table.</summary>
/// <param name="Values">The figures; null where nothing could be measured.</param>
public sealed record ResultRow(IReadOnlyList<string> Labels, IReadOnlyList<double?> Values);

/// <summary>A table of figures: each row has some labels, then as many values as there are columns.</summary>
public sealed record ResultTable
{
    public required string Title { get; init; }

    public required IReadOnlyList<string> Labels { get; init; }

    public required IReadOnlyList<ResultColumn> Columns { get; init; }

    public required IReadOnlyList<ResultRow> Rows { get; init; }
}
