namespace Measurements.Analyzers;

/// <summary>What the analyzer says of a project as it stands.</summary>
internal sealed record ProjectReach(string Name, int Lines, int Usings, int Warnings, int Suppressed, int Leaks, TimeSpan Time);

/// <summary>Makes the tables of a run.</summary>
internal static class ReachDocument
{
    private const int Percent = 100;
    private const int Rules = 5;

    /// <summary>Shows each project as it stands: what is reported there has been looked at, one by one.</summary>
    public static ResultTable OfProjects(IReadOnlyList<ProjectReach> projects) => new()
    {
        Title = "Projects as they stand",
        Labels = ["project"],
        Columns =
        [
            new("lines", null, "N0"), new("using of an owner", null, "N0"), new("warnings", null, "N0"),
            new("of these suppressed in the source", null, "N0"), new("ALLOC004 (info)", null, "N0"), new("analyzer", "ms", "0.0"),
        ],
        Rows =
        [
            .. projects.Select(project => new ResultRow(
                [project.Name],
                [project.Lines, project.Usings, project.Warnings, project.Suppressed, project.Leaks, project.Time.TotalMilliseconds])),
        ],
    };

    /// <summary>Shows how many mistakes made on purpose were found, and by what.</summary>
    public static ResultTable OfMutations(params IReadOnlyList<(string Mistake, IReadOnlyList<Outcome> Outcomes)> mistakes) => new()
    {
        Title = "Mistakes made on purpose",
        Labels = ["mistake"],
        Columns =
        [
            new("made", null, "N0"), new("do not compile", null, "N0"),
            .. Enumerable.Range(1, Rules).Select(rule => new ResultColumn($"ALLOC00{rule}", null, "N0")),
            new("missed", null, "N0"), new("found", "%", "0.0"),
        ],
        Rows = [.. mistakes.Select(mistake => MutationRow(mistake.Mistake, mistake.Outcomes))],
    };

    private static ResultRow MutationRow(string name, IReadOnlyList<Outcome> outcomes)
    {
        int compiled = outcomes.Count(outcome => outcome.Compiles);
        int found = outcomes.Count(outcome => outcome.Rule is not null);
        IEnumerable<double?> rules =
            Enumerable.Range(1, Rules).Select(rule => (double?)outcomes.Count(outcome => outcome.Rule == $"ALLOC00{rule}"));
        return new ResultRow(
            [name],
            [
                outcomes.Count, outcomes.Count - compiled, .. rules, compiled - found,
                compiled == 0 ? null : (double)Percent * found / compiled,
            ]);
    }
}
