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

    private static readonly Option<bool> s_misses = new("--misses") { Description = "List what was missed, and what is reported in the projects as they stand." };

    public static Command Create() => new Command("analyzers", "Counts what the analyzer finds in real projects, as they stand and with mistakes made on purpose.")
    {
        s_projects, s_misses,
    }.Measures("AnalyzerReach", Measure);

    private static ResultDocument Measure(MeasurementRun run)
    {
        bool lists = run.Get(s_misses);
        List<ProjectReach> projects = [];
        List<Outcome> removed = [];
        List<Outcome> early = [];
        foreach (string path in Projects(run.Parsed.GetValue(s_projects)!))
        {
            CorpusProject project = CorpusProject.Load(path);
            run.Console.WriteLine(project.Name);
            List<OwnedLocal> locals = [.. OwnedLocals.In(project)];
            projects.Add(AsItStands(project, locals.Count, run.Console, lists));
            MutationTrial trial = new(project);
            IReadOnlyList<OwnedLocal> tried = run.IsQuick ? [.. locals.Take(QuickLocals)] : locals;
            removed.AddRange(trial.RemoveUsings(tried));
            early.AddRange(trial.DisposeEarly(tried));
        }

        if (lists)
        {
            WriteMisses(run.Console, "using removed", removed);
            WriteMisses(run.Console, "disposed early", early);
        }

        return run.NewDocument("Reach of the analyzer") with
        {
            Notes = s_notes,
            Tables =
            [
                ReachDocument.OfProjects(projects),
                ReachDocument.OfMutations("A `using` removed", removed),
                ReachDocument.OfMutations("Disposed before the last use", early),
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

    private static ProjectReach AsItStands(CorpusProject project, int usings, IAnsiConsole console, bool list)
    {
        (ImmutableArray<Diagnostic> found, TimeSpan time) = AnalyzerTrial.OfProject(project.Compilation.WithOptions(ReportingSuppressed(project.Compilation.Options)));
        if (list)
        {
            foreach (Diagnostic diagnostic in found)
            {
                console.WriteLine($"  {(diagnostic.IsSuppressed ? "suppressed " : "")}{diagnostic.Id} {Path.GetFileName(diagnostic.Location.SourceTree!.FilePath)}:{diagnostic.Location.GetLineSpan().StartLinePosition.Line + 1}");
            }
        }

        int leaks = found.Count(diagnostic => diagnostic.Severity == DiagnosticSeverity.Info);
        return new ProjectReach(project.Name, project.Lines, usings, found.Length - leaks, found.Count(diagnostic => diagnostic.IsSuppressed), leaks, time);
    }

    private static CompilationOptions ReportingSuppressed(CompilationOptions options) =>
        options.WithReportSuppressedDiagnostics(true).WithGeneralDiagnosticOption(ReportDiagnostic.Default);

    private static void WriteMisses(IAnsiConsole console, string name, IEnumerable<Outcome> outcomes)
    {
        foreach (Outcome outcome in outcomes.Where(outcome => outcome.Rule is null))
        {
            console.WriteLine($"  {name}: {outcome.Place} {(outcome.Compiles ? outcome.Circumstance.ToString() : "does not compile")}");
        }
    }
}
