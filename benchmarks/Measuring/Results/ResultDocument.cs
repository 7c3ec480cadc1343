using System;
using System.Collections.Generic;

namespace Measuring.Results;

/// <summary>A picture that a program drew itself because no <see cref="ResultChart"/> shows such a thing.</summary>
/// <param name="File">The name of its file, which lies beside the result file.</param>
public sealed record ResultPicture(string Title, string File);

/// <summary>
/// What one run of a measurement program found, with all that is needed to repeat it. Programs write it as JSON;
/// the report command turns it into Markdown tables and SVG charts.
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

    // A reader of JSON that is generated sets what the file leaves out to null, whatever stands here as the first value.

    /// <summary>Gets what a reader must know to read the figures: sentences, shown below the tables.</summary>
    public IReadOnlyList<string> Notes { get => field ?? []; init; }

    public required IReadOnlyList<ResultTable> Tables { get; init; }

    public IReadOnlyList<ResultChart> Charts { get => field ?? []; init; }

    public IReadOnlyList<ResultPicture> Pictures { get => field ?? []; init; }
}
