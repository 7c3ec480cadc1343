namespace Measuring.Results;

/// <summary>A picture that a program drew itself because no <see cref="ResultChart"/> shows such a thing.</summary>
/// <param name="File">The name of its file, which lies beside the result file.</param>
public sealed record ResultPicture(string Title, string File);

/// <summary>
/// What one run of a measurement program found, with all that is needed to repeat it. Programs write it as JSON; the report command turns
/// it into Markdown tables and SVG charts.
/// </summary>
public sealed record ResultDocument
{
    /// <summary>Gets the name of the program, which is also the name of its files.</summary>
    public required string Program { get; init; }

    public required string Title { get; init; }

    /// <summary>Gets the command that measured it, as it is typed in the repository's root.</summary>
    public required string Command { get; init; }

    public required DateTimeOffset Date { get; init; }

    public required MachineDescription Machine { get; init; }

    /// <summary>Gets the commit that was measured; with a plus sign, there were changes beside it.</summary>
    public string? Commit { get; init; }

    /// <summary>Gets how long the measurement took.</summary>
    public double? Minutes { get; init; }

    // A reader of JSON that is generated sets what the file leaves out to null, whatever stands here as the first value.

    /// <summary>Gets what a reader must know to read the figures: sentences, shown below the tables.</summary>
    public IReadOnlyList<string> Notes { get => field ?? []; init; }

    /// <summary>Gets what was found that must not be so: such a result is measured again.</summary>
    public IReadOnlyList<string> Failures { get => field ?? []; init; }

    public required IReadOnlyList<ResultTable> Tables { get; init; }

    public IReadOnlyList<ResultChart> Charts { get => field ?? []; init; }

    public IReadOnlyList<ResultPicture> Pictures { get => field ?? []; init; }
}

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

/// <summary>What figures were measured on: a figure without it says nothing.</summary>
public sealed record MachineDescription
{
    public required string Processor { get; init; }

    public required int Cores { get; init; }

    /// <summary>Gets the memory that the runtime believes it may use, in bytes.</summary>
    public required long MemoryBytes { get; init; }

    public required string OperatingSystem { get; init; }

    public required string Runtime { get; init; }

    public required int PageSize { get; init; }

    /// <summary>
    /// Gets the system's setting for transparent huge pages (<c>always</c>, <c>madvise</c>, <c>never</c>), or null where there is none.
    /// </summary>
    public string? HugePages { get; init; }

    /// <summary>
    /// Gets how long the first write to a page takes, in microseconds, or null in results that do not say. Most machines take 0.1 to 1.5;
    /// a virtual machine within another took 14. It is what memory that goes back costs when it is needed again.
    /// </summary>
    public double? FirstWriteMicroseconds { get; init; }
}
