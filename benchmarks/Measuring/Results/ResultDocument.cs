using System;
using System.Collections.Generic;

namespace Measuring.Results;

/// <summary>
/// What one run of a measurement program found, with all that is needed to repeat it. Programs write it as JSON;
/// the report command turns it into Markdown tables and SVG charts.
/// </summary>
public sealed record ResultDocument
{
    /// <summary>Gets the name of the program, which is also the name of its files.</summary>
    public required string Program { get; init; }

    /// <summary>Gets what was measured, in one line.</summary>
    public required string Title { get; init; }

    /// <summary>Gets the command that measured it, as it is typed in the repository's root.</summary>
    public required string Command { get; init; }

    /// <summary>Gets when the measurement ended.</summary>
    public required DateTimeOffset Date { get; init; }

    /// <summary>Gets the machine and the runtime.</summary>
    public required MachineDescription Machine { get; init; }

    // A reader of JSON that is generated sets what the file leaves out to null, whatever stands here as the first value.

    /// <summary>Gets what a reader must know to read the figures: sentences, shown below the tables.</summary>
    public IReadOnlyList<string> Notes { get => field ?? []; init; }

    /// <summary>Gets the figures.</summary>
    public required IReadOnlyList<ResultTable> Tables { get; init; }

    /// <summary>Gets the charts to be drawn.</summary>
    public IReadOnlyList<ResultChart> Charts { get => field ?? []; init; }

    /// <summary>Gets the pictures that the program drew itself.</summary>
    public IReadOnlyList<ResultPicture> Pictures { get => field ?? []; init; }
}
