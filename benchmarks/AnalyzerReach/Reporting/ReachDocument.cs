using System.Collections.Generic;
using System.Linq;
using AnalyzerReach.Mutations;
using AnalyzerReach.Trials;
using Measuring.Results;

namespace AnalyzerReach.Reporting;

/// <summary>Makes the tables of a run.</summary>
internal static class ReachDocument
{
    private const int Percent = 100;

    /// <summary>Shows each project as it stands: what is reported there has been looked at, one by one.</summary>
    public static ResultTable OfProjects(IReadOnlyList<ProjectReach> projects) => new()
    {
        Title = "Projects as they stand",
        Labels = ["project"],
        Columns =
        [
            new ResultColumn("lines", null, "N0"),
            new ResultColumn("using of an owner", null, "N0"),
            new ResultColumn("warnings", null, "N0"),
            new ResultColumn("of these suppressed in the source", null, "N0"),
            new ResultColumn("ALLOC004 (info)", null, "N0"),
            new ResultColumn("analyzer", "ms", "0.0"),
        ],
        Rows =
        [
            .. projects.Select(project => new ResultRow(
                [project.Name],
                [project.Lines, project.Usings, project.Warnings, project.Suppressed, project.Leaks, project.Time.TotalMilliseconds])),
        ],
    };

    /// <summary>Shows how many mutations were found, and by what.</summary>
    public static ResultTable OfMutations(IEnumerable<(string Name, IReadOnlyList<Outcome> Outcomes)> kinds) => new()
    {
        Title = "Mistakes made on purpose, one at a time",
        Labels = ["mistake"],
        Columns =
        [
            new ResultColumn("made", null, "N0"),
            new ResultColumn("do not compile", null, "N0"),
            new ResultColumn("ALLOC001", null, "N0"),
            new ResultColumn("ALLOC002", null, "N0"),
            new ResultColumn("ALLOC003", null, "N0"),
            new ResultColumn("ALLOC004", null, "N0"),
            new ResultColumn("ALLOC005", null, "N0"),
            new ResultColumn("missed", null, "N0"),
            new ResultColumn("found", "%", "0.0"),
        ],
        Rows = [.. kinds.Select(kind => MutationRow(kind.Name, kind.Outcomes))],
    };

    /// <summary>Shows what the owners that were missed go through.</summary>
    public static ResultTable OfMisses(IEnumerable<(string Name, IReadOnlyList<Outcome> Outcomes)> kinds) => new()
    {
        Title = "What was missed, by what the owner goes through",
        Labels = ["mistake"],
        Columns =
        [
            new ResultColumn("a lambda or local function uses it", null, "N0"),
            new ResultColumn("passed to a method without [Borrowed]", null, "N0"),
            new ResultColumn("stored or returned", null, "N0"),
            new ResultColumn("only its length or the like is read", null, "N0"),
            new ResultColumn("none of these", null, "N0"),
        ],
        Rows = [.. kinds.Select(kind => MissRow(kind.Name, kind.Outcomes))],
    };

    private static ResultRow MutationRow(string name, IReadOnlyList<Outcome> outcomes)
    {
        int compiled = outcomes.Count(outcome => outcome.Compiles);
        int found = outcomes.Count(outcome => outcome.Rule is not null);
        IEnumerable<double?> rules = Enumerable.Range(1, 5).Select(rule => (double?)outcomes.Count(outcome => outcome.Rule == $"ALLOC00{rule}"));
        return new ResultRow(
            [name],
            [outcomes.Count, outcomes.Count - compiled, .. rules, compiled - found, compiled == 0 ? null : (double)Percent * found / compiled]);
    }

    private static ResultRow MissRow(string name, IReadOnlyList<Outcome> outcomes)
    {
        double? Count(Circumstance circumstance) =>
            outcomes.Count(outcome => outcome is { Compiles: true, Rule: null } && outcome.Circumstance == circumstance);
        return new ResultRow(
            [name],
            [
                Count(Circumstance.Captured), Count(Circumstance.Passed), Count(Circumstance.Stored),
                Count(Circumstance.OnlyMeasured), Count(Circumstance.Plain),
            ]);
    }
}
