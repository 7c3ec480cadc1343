using System.Collections.Generic;
using Decisions.BlockSizes;
using Decisions.Budgets;
using Decisions.Purging;
using Decisions.Safety;
using Decisions.Segments;
using Decisions.Slots;
using Decisions.TrimLatency;
using Decisions.Trimming;

namespace Decisions.Questions;

/// <summary>The questions there are.</summary>
internal static class AllQuestions
{
    /// <summary>Makes them, in the order in which they are asked.</summary>
    public static IReadOnlyList<Question> Create() =>
    [
        new TrimmingQuestion(),
        new BlockSizeQuestion(),
        new SegmentsQuestion(),
        new SlotsQuestion(),
        new PurgeQuestion(),
        new TrimLatencyQuestion(),
        new SafetyQuestion(),
        new BudgetQuestion(),
    ];
}
