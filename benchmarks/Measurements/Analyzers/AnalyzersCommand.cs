using System.Collections.Immutable;
using Microsoft.CodeAnalysis;

namespace Measurements.Analyzers;

/// <summary>
/// Runs the analyzer over real projects, as they stand and with mistakes made on purpose, and counts what it finds and what it costs.
/// </summary>
internal static class AnalyzersCommand
{
    private const int QuickLocals = 5;

    private static readonly Argument<FileInfo[]> s_projects = new Argument<FileInfo[]>("projects")
    {
        Description = "Projects that have been built; all of src, tests and benchmarks unless given.",
        Arity = ArgumentArity.ZeroOrMore,
    }.AcceptExistingOnly();

    private static readonly Option<DirectoryInfo> s_sources = new Option<DirectoryInfo>("--sources")
    {
        Description = "A folder of sources called .cs.txt that no project compiles, taken instead of projects.",
    }.AcceptExistingOnly();

    private static readonly Option<FileInfo> s_before = new Option<FileInfo>("--before")
    {
        Description = "With --sources: an earlier Allocator.Analyzers.dll, whose times are measured in turn with those of this one.",
    }.AcceptExistingOnly();

    private static readonly Option<bool> s_timesOnly = new("--times-only")
    {
        Description = "With --sources: measures times, and makes no mistakes.",
    };

    private static readonly Option<bool> s_misses = new("--misses")
    {
        Description = "Writes where the mistakes were made that no rule named, and where a report was wrong.",
    };

    public static Command Create()
        => new Command("analyzers", "Counts what the analyzer finds in real projects, as they stand and with mistakes made on purpose.")
    {
        s_projects,
        s_sources,
        s_before,
        s_timesOnly,
        s_misses,
    }.Measures("AnalyzerReach", MeasureWithTimes);

    private static ResultDocument? MeasureWithTimes(MeasurementRun run)
    {
        try
        {
            ResultDocument reach = run.Get(s_timesOnly) ? run.NewDocument("Reach of the analyzer") : Measure(run);
            if (run.Parsed.GetValue(s_sources) is not { } folder)
            {
                return run.Get(s_timesOnly) ? throw new InvalidDataException("--times-only needs --sources.") : reach;
            }

            CorpusProject corpus = CorpusProject.LoadFolder(folder.FullName);
            IEnumerable<ResultTable> times = TimeDocument.Tables(corpus, run.Parsed.GetValue(s_before), run);
            return reach with { Notes = [.. reach.Notes, .. TimeDocument.Notes], Tables = [.. reach.Tables, .. times] };
        }
        catch (InvalidDataException failure)
        {
            run.Failures.Add(failure.Message);
            return null;
        }
    }

    private static ResultDocument Measure(MeasurementRun run)
    {
        List<ProjectReach> projects = [];
        List<FileTime> files = [];
        List<Outcome> removed = [];
        List<Outcome> early = [];
        List<Outcome> undisposed = [];
        List<Outcome> unawaited = [];
        List<Outcome> holdersRemoved = [];
        List<Outcome> holdersEarly = [];
        foreach (CorpusProject project in Corpus(run))
        {
            run.Console.WriteLine(project.Name);
            List<OwnedLocal> all = [.. OwnedLocals.In(project)];
            List<OwnedLocal> locals = [.. all.Where(local => !local.IsOfProject)];
            List<OwnedLocal> holders = [.. all.Where(local => local.IsOfProject)];
            projects.Add(AsItStands(project, locals.Count(local => local.IsInUsing)));
            files.AddRange(AnalyzerTrial.OfFiles(project));
            MutationTrial trial = new(project);
            IReadOnlyList<OwnedLocal> tried = run.IsQuick ? [.. locals.Take(QuickLocals)] : locals;
            removed.AddRange(trial.RemoveUsings(tried));
            early.AddRange(trial.DisposeEarly(tried));
            undisposed.AddRange(trial.RemoveDisposals(tried));
            unawaited.AddRange(trial.RemoveAwaits(tried));
            tried = run.IsQuick ? [.. holders.Take(QuickLocals)] : holders;
            holdersRemoved.AddRange(trial.RemoveUsings(tried));
            holdersEarly.AddRange(trial.DisposeEarly(tried));
        }

        (string Mistake, IReadOnlyList<Outcome> Outcomes)[] mistakes =
        [
            ("a `using` removed", removed), ("disposed before the last use", early),
            ("all calls of `Dispose` removed", undisposed), ("an `await` removed", unawaited),
            ("a `using` of a class that owns buffers removed", holdersRemoved),
            ("a class that owns buffers, disposed before the last use", holdersEarly),
        ];
        if (run.Parsed.GetValue(s_misses))
        {
            WriteMisses(run, mistakes);
        }

        return run.NewDocument("Reach of the analyzer") with
        {
            Notes = s_notes,
            Tables =
            [
                ReachDocument.OfProjects(projects),
                ReachDocument.OfMutations(mistakes),
                ReachDocument.OfFiles(files),
            ],
        };
    }

    private static void WriteMisses(MeasurementRun run, IEnumerable<(string Mistake, IReadOnlyList<Outcome> Outcomes)> mistakes)
    {
        foreach ((string mistake, IReadOnlyList<Outcome> outcomes) in mistakes)
        {
            foreach (Outcome outcome in outcomes.Where(outcome => outcome.Compiles && (outcome.Rule is null || outcome.Wrong > 0)))
            {
                run.Console.WriteLine($"{mistake}: {(outcome.Rule is null ? "missed" : "wrong")} {outcome.Place}");
            }
        }
    }

    private static readonly string[] s_notes =
    [
        "Every project is compiled in this process from the arguments that MSBuild gives the compiler. Time is that of the analyzer's "
            + "own actions, on one thread by the clock, the least of five runs: where others have the cores, a long run holds pauses "
            + "that are not its own.",
        "A mistake is made at each variable of an owner's type whose first value is a call, whether the analyzer knows of that or not. It "
            + "is found where a report names that very allocation. Wrong are reports in the same member that name another place and "
            + "were not there before.",
        "`using` removed: the keyword alone, or the statement around its block. Disposed before the last use: a call to Dispose in "
            + "front of the last statement of the variable's scope that names it or a view of it; buffers only, not allocators. "
            + "`await` removed: from the first statement that awaits a call which is given the buffer.",
        "A single file: the analyzer alone over one file, as an editor runs it, in a compilation that knows nothing of it yet; the least "
            + "of three runs, scaled to 2,000 lines where it has more.",
    ];

    private static IEnumerable<CorpusProject> Corpus(MeasurementRun run) =>
        run.Parsed.GetValue(s_sources) is { } folder
            ? [CorpusProject.LoadFolder(folder.FullName)]
            : Projects(run.Parsed.GetValue(s_projects)!).Select(CorpusProject.Load);

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
