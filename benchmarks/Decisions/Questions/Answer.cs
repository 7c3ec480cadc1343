using System.Collections.Generic;
using Measuring.Results;

namespace Decisions.Questions;

/// <summary>What measuring one question gave.</summary>
internal sealed record Answer
{
    /// <summary>Gets the figures.</summary>
    public IReadOnlyList<ResultTable> Tables { get; init; } = [];

    /// <summary>Gets the charts to be drawn of them.</summary>
    public IReadOnlyList<ResultChart> Charts { get; init; } = [];

    /// <summary>Gets how to read the figures, and which way they point.</summary>
    public IReadOnlyList<string> Notes { get; init; } = [];
}
