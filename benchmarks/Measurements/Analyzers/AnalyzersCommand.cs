using System.Collections.Immutable;
using Microsoft.CodeAnalysis;

namespace Measurements.Analyzers;

/// <summary>
/// Runs the analyzer over real projects, as they stand and with mistakes made on purpose, and counts what it finds and what it costs.
/// </summary>
internal static class AnalyzersCommand
{
    private const int QuickLocals = 5;

    private static readonly Argument<FileInfo[]> s_projects = new("projects")
    {
        Description = "Projects that have been built; all of src, tests and benchmarks unless given.",
        Arity = ArgumentArity.ZeroOrMore,
    };

    public static Command Create()
        => new Command("analyzers", "Counts what the analyzer finds in real projects, as they stand and with mistakes made on purpose.")
    {
        s_projects,
    }.Measures("AnalyzerReach", Measure);

    private static ResultDocument Measure(MeasurementRun run)
    {
        List<ProjectReach> projects = [];
        List<Outcome> removed = [];
        List<Outcome> early = [];
        foreach (string path in Projects(run.Parsed.GetValue(s_projects)!))
        {
            CorpusProject project = CorpusProject.Load(path);
            run.Console.WriteLine(project.Name);
            List<OwnedLocal> locals = [.. OwnedLocals.In(project)];
            projects.Add(AsItStands(project, locals.Count));
            MutationTrial trial = new(project);
            IReadOnlyList<OwnedLocal> tried = run.IsQuick ? [.. locals.Take(QuickLocals)] : locals;
            removed.AddRange(trial.RemoveUsings(tried));
            early.AddRange(trial.DisposeEarly(tried));
        }

        return run.NewDocument("Reach of the analyzer") with
        {
            Notes = s_notes,
            Tables =
            [
                ReachDocument.OfProjects(projects),
                ReachDocument.OfMutations(("a `using` removed", removed), ("disposed before the last use", early)),
            ],
        };
    }

    private static readonly string[] s_notes =
    [
        "Every project is compiled in this process from the arguments that MSBuild gives the compiler. Time is that of the analyzer's "
            + "own actions, on one thread by the clock, the least of five runs: where others have the cores, a long run holds pauses "
            + "that are not its own.",
        "A mistake is made at each `using` variable whose value comes straight from a method with [return: OwnedBuffer]. It is found "
            + "where a report names that very allocation.",
        "`using` removed: the keyword alone, or the statement around its block. Disposed before the last use: a call to Dispose in "
            + "front of the last statement of the variable's scope that names it or a view of it; buffers only, not allocators.",
    ];

    private static IEnumerable<string> Projects(FileInfo[] given) => given.Length > 0
        ? given.Select(file => file.FullName)
        : from folder in (string[])["src", "tests", "benchmarks"]
          from path in Directory.EnumerateFiles(folder, "*.csproj", SearchOption.AllDirectories).Order(StringComparer.Ordinal)
          select path;

    private static ProjectReach AsItStands(CorpusProject project, int usings)
    {
        (ImmutableArray<Diagnostic> found, TimeSpan time) = AnalyzerTrial.OfProject(
            project.Compilation.WithOptions(ReportingSuppressed(project.Compilation.Options)));
        int leaks = found.Count(diagnostic => diagnostic.Severity == DiagnosticSeverity.Info);
        return new ProjectReach(
            project.Name, project.Lines, usings, found.Length - leaks, found.Count(diagnostic => diagnostic.IsSuppressed), leaks, time);
    }

    private static CompilationOptions ReportingSuppressed(CompilationOptions options) =>
        options.WithReportSuppressedDiagnostics(true).WithGeneralDiagnosticOption(ReportDiagnostic.Default);
}
