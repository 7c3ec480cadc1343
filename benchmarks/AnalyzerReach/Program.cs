using System;
using System.Collections.Generic;
using System.Collections.Immutable;
using System.CommandLine;
using System.IO;
using System.Linq;
using System.Threading.Tasks;
using AnalyzerReach.Corpus;
using AnalyzerReach.Mutations;
using AnalyzerReach.Reporting;
using AnalyzerReach.Trials;
using Measuring;
using Measuring.Results;
using Microsoft.CodeAnalysis;
using Spectre.Console;

namespace AnalyzerReach;

/// <summary>Runs the analyzer over real projects, as they stand and with mistakes made on purpose, and counts what it finds and what it costs.</summary>
internal static class Program
{
    private const int QuickLocals = 5;

    private static readonly Argument<FileInfo[]> s_projects = new("projects")
    {
        Description = "Projects that have been built; all of src, tests and benchmarks unless given.",
        Arity = ArgumentArity.ZeroOrMore,
    };

    private static readonly Option<bool> s_misses = new("--misses") { Description = "List what was missed, and what is reported in the projects as they stand." };

    private static Task<int> Main(string[] arguments)
    {
        MeasurementCommand command = new("AnalyzerReach", "Counts what the analyzer finds in real projects, as they stand and with mistakes made on purpose.");
        command.Root.Add(s_projects);
        command.Root.Add(s_misses);
        return command.RunAsync(arguments, (parsed, console) => Measure(command, parsed, console));
    }

    private static ResultDocument Measure(MeasurementCommand command, ParseResult parsed, IAnsiConsole console)
    {
        bool quick = parsed.GetValue(command.Quick);
        List<ProjectReach> projects = [];
        List<Outcome> removed = [];
        List<Outcome> early = [];
        foreach (string path in Projects(parsed.GetValue(s_projects)!))
        {
            CorpusProject project = CorpusProject.Load(path);
            console.WriteLine(project.Name);
            List<OwnedLocal> locals = [.. OwnedLocals.In(project)];
            projects.Add(AsItStands(project, locals.Count, console, parsed.GetValue(s_misses)));
            MutationTrial trial = new(project);
            IReadOnlyList<OwnedLocal> tried = quick ? [.. locals.Take(QuickLocals)] : locals;
            removed.AddRange(trial.RemoveUsings(tried));
            early.AddRange(trial.DisposeEarly(tried));
        }

        if (parsed.GetValue(s_misses))
        {
            WriteMisses(console, "using removed", removed);
            WriteMisses(console, "disposed early", early);
        }

        return command.NewDocument("Reach of the analyzer", parsed) with
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
        "Every project is compiled in this process from the arguments that MSBuild gives the compiler. Time is that of the analyzer's own actions, on one thread by the clock, the least of five runs: where others have the cores, a long run holds pauses that are not its own.",
        "A mistake is made at each `using` variable whose value comes straight from a method with [return: OwnedBuffer]. It is found where a report names that very allocation.",
        "`using` removed: the keyword alone, or the statement around its block. Disposed before the last use: a call to Dispose in front of the last statement of the variable's scope that names it or a view of it; buffers only, not allocators.",
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
