namespace Measurements.Analyzers;

/// <summary>What the analyzer says of a project as it stands.</summary>
internal sealed record ProjectReach(string Name, int Lines, int Usings, int Warnings, int Suppressed, int Leaks, TimeSpan Time);

/// <summary>How long the analyzer takes for one file.</summary>
internal sealed record FileTime(int Lines, TimeSpan Time);

/// <summary>Makes the tables of a run.</summary>
internal static class ReachDocument
{
    private const int Percent = 100;
    private const int LongFile = 2000;
    private const int Rules = 6;

    /// <summary>Shows each project as it stands: what is reported there has been looked at, one by one.</summary>
    public static ResultTable OfProjects(IReadOnlyList<ProjectReach> projects) => new()
    {
        Title = "Projects as they stand",
        Labels = ["project"],
        Columns =
        [
            new("lines", null, "N0"), new("using of an owner", null, "N0"), new("warnings", null, "N0"),
            new("of these suppressed in the source", null, "N0"), new("suggestions", null, "N0"), new("analyzer", "ms", "0.0"),
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
            new("missed", null, "N0"), new("found", "%", "0.0"), new("wrong", null, "N0"),
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
                compiled == 0 ? null : (double)Percent * found / compiled, outcomes.Sum(outcome => outcome.Wrong),
            ]);
    }

    /// <summary>Shows how long single files take that allocate.</summary>
    public static ResultTable OfFiles(IReadOnlyList<FileTime> files) => new()
    {
        Title = "A single file, as an editor analyses it",
        Labels = ["files"],
        Columns =
        [
            new("number", null, "N0"), new("median", "ms", "0.0"), new("longest", "ms", "0.0"),
            new("longest, in 2,000 lines", "ms", "0.0"),
        ],
        Rows = [FilesRow([.. files.OrderBy(file => file.Time)])],
    };

    private static ResultRow FilesRow(IReadOnlyList<FileTime> files) => new(
        ["all"],
        files.Count == 0 ? [0, null, null, null] :
        [
            files.Count, files[files.Count / 2].Time.TotalMilliseconds, files[^1].Time.TotalMilliseconds,
            files.Max(file => file.Time.TotalMilliseconds * Math.Min(1, (double)LongFile / file.Lines)),
        ]);
}
