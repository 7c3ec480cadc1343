using System.Collections.Generic;
using Decisions.TrimLatency;

namespace Decisions.Questions;

/// <summary>The questions there are.</summary>
internal static class AllQuestions
{
    /// <summary>Makes them, in the order in which they are asked.</summary>
    public static IReadOnlyList<Question> Create() =>
    [
        new TrimLatencyQuestion(),
    ];
}
