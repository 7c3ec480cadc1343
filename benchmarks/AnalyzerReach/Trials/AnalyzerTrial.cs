using System;
using System.Collections.Immutable;
using System.Threading;
using Allocator.Analyzers;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.Diagnostics;
using Microsoft.CodeAnalysis.Text;

namespace AnalyzerReach.Trials;

/// <summary>Runs the analyzer over a project, or a part of a file of it.</summary>
internal static class AnalyzerTrial
{
    /// <summary>Gives all reports, and the time that the analyzer itself took.</summary>
    public static (ImmutableArray<Diagnostic> Found, TimeSpan Time) OfProject(Compilation compilation)
    {
        LifetimeAnalyzer analyzer = new();
        CompilationWithAnalyzers run = Start(compilation, analyzer);
        ImmutableArray<Diagnostic> found = run.GetAnalyzerDiagnosticsAsync(CancellationToken.None).GetAwaiter().GetResult();
        TimeSpan time = run.GetAnalyzerTelemetryInfoAsync(analyzer, CancellationToken.None).GetAwaiter().GetResult()!.ExecutionTime;
        return (found, time);
    }

    /// <summary>Gives what is reported within a part of a file.</summary>
    public static ImmutableArray<Diagnostic> OfSpan(Compilation compilation, SyntaxTree tree, TextSpan span) =>
        Start(compilation, new LifetimeAnalyzer())
            .GetAnalyzerSemanticDiagnosticsAsync(compilation.GetSemanticModel(tree), span, CancellationToken.None).GetAwaiter().GetResult();

    private static CompilationWithAnalyzers Start(Compilation compilation, DiagnosticAnalyzer analyzer) => compilation.WithAnalyzers(
        [analyzer], new CompilationWithAnalyzersOptions(
            new AnalyzerOptions([]), null, concurrentAnalysis: false, logAnalyzerExecutionTime: true, reportSuppressedDiagnostics: true));
}
