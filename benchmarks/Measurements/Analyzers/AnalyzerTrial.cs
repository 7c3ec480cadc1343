using System.Collections.Immutable;
using System.Runtime;
using Allocator.Analyzers;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.Diagnostics;
using Microsoft.CodeAnalysis.Text;

namespace Measurements.Analyzers;

/// <summary>Runs the analyzer over a project, or a part of a file of it.</summary>
internal static class AnalyzerTrial
{
    private const int Runs = 5;
    private const int FileRuns = 3;
    private const long QuietBytes = 200L << 20;

    /// <summary>
    /// Gives all reports, and the least time that the analyzer itself took: builds run in a compiler that has long been warm.
    /// </summary>
    public static (ImmutableArray<Diagnostic> Found, TimeSpan Time) OfProject(Compilation compilation)
    {
        (ImmutableArray<Diagnostic> found, TimeSpan least) = Once(compilation);
        for (int run = 1; run < Runs; run++)
        {
            TimeSpan time = Once(compilation).Time;
            least = time < least ? time : least;
        }

        return (found, least);
    }

    /// <summary>Measures each file on its own, with nothing known of the rest: what an editor waits for after a change.</summary>
    public static IEnumerable<FileTime> OfFiles(CorpusProject project)
    {
        foreach (SyntaxTree tree in project.Compilation.SyntaxTrees.Where(CorpusProject.IsWritten))
        {
            TimeSpan least = TimeSpan.MaxValue;
            for (int run = 0; run < FileRuns; run++)
            {
                LifetimeAnalyzer analyzer = new();
                CompilationWithAnalyzers one = Start(project.Compilation, analyzer);
                one.GetAnalyzerSemanticDiagnosticsAsync(
                    project.Compilation.GetSemanticModel(tree), null, CancellationToken.None).GetAwaiter().GetResult();
                TimeSpan time = TimeOf(one, analyzer);
                least = time < least ? time : least;
            }

            yield return new FileTime(tree.GetText().Lines.Count, least);
        }
    }

    private static (ImmutableArray<Diagnostic> Found, TimeSpan Time) Once(Compilation compilation)
    {
        LifetimeAnalyzer analyzer = new();
        CompilationWithAnalyzers run = Start(compilation, analyzer);

        // A collection that falls into an action would be counted as the analyzer's, though the compiler made the garbage.
        bool isQuiet = GC.TryStartNoGCRegion(QuietBytes);
        ImmutableArray<Diagnostic> found = run.GetAnalyzerDiagnosticsAsync(CancellationToken.None).GetAwaiter().GetResult();
        if (isQuiet && GCSettings.LatencyMode == GCLatencyMode.NoGCRegion)
        {
            GC.EndNoGCRegion();
        }

        return (found, TimeOf(run, analyzer));
    }

    private static TimeSpan TimeOf(CompilationWithAnalyzers run, DiagnosticAnalyzer analyzer) =>
        run.GetAnalyzerTelemetryInfoAsync(analyzer, CancellationToken.None).GetAwaiter().GetResult()!.ExecutionTime;

    public static ImmutableArray<Diagnostic> OfSpan(Compilation compilation, SyntaxTree tree, TextSpan span) =>
        Start(compilation, new LifetimeAnalyzer())
            .GetAnalyzerSemanticDiagnosticsAsync(
                compilation.GetSemanticModel(tree), span, CancellationToken.None).GetAwaiter().GetResult();

    private static CompilationWithAnalyzers Start(Compilation compilation, DiagnosticAnalyzer analyzer) => compilation.WithAnalyzers(
        [analyzer], new CompilationWithAnalyzersOptions(
            new AnalyzerOptions([]), null, concurrentAnalysis: false, logAnalyzerExecutionTime: true, reportSuppressedDiagnostics: true));
}
