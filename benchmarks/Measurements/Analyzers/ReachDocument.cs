namespace Measurements.Analyzers;

/// <summary>What the analyzer says of a project as it stands.</summary>
internal sealed record ProjectReach(string Name, int Lines, int Usings, int Warnings, int Suppressed, int Leaks, TimeSpan Time);

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

    /// <summary>Shows how many mutations were found, and by what: first all, then by what the owner goes through.</summary>
    public static ResultTable OfMutations(string title, IReadOnlyList<Outcome> outcomes) => new()
    {
        Title = title,
        Labels = ["the owner"],
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
        Rows =
        [
            MutationRow("all", outcomes),
            .. from circumstance in outcomes.GroupBy(outcome => outcome.Circumstance)
               orderby circumstance.Key
               select MutationRow(NameOf(circumstance.Key), [.. circumstance]),
        ],
    };

    private static string NameOf(Circumstance circumstance) => circumstance switch
    {
        Circumstance.Plain => "none of the below",
        Circumstance.Captured => "is used by a lambda or local function",
        Circumstance.Passed => "is passed to a method without [Borrowed]",
        Circumstance.Stored => "is stored or returned",
        Circumstance.Pinned => "is pinned (stays valid past its disposal)",
        Circumstance.OnlyMeasured => "is only asked for its length or the like",
        _ => throw new ArgumentOutOfRangeException(nameof(circumstance)),
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
}
