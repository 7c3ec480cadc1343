using Microsoft.CodeAnalysis.Diagnostics;

namespace Allocator.Analyzers.Tests.Testing;

/// <summary>Runs an analyzer as the compiler does.</summary>
public static class AnalyzerRun
{
    private const string AnalyzerThrew = "AD0001";

    /// <summary>Gives what <paramref name="analyzer"/> reports, in the order of the source.</summary>
    /// <exception cref="SnippetException">The analyzer threw.</exception>
    public static async Task<ImmutableArray<Diagnostic>> Of(
        DiagnosticAnalyzer analyzer, Compilation compilation, AnalyzerOptions? options = null,
        CancellationToken cancellationToken = default)
    {
        CompilationWithAnalyzers run = compilation.WithAnalyzers(
            [analyzer], new CompilationWithAnalyzersOptions(
                options ?? new AnalyzerOptions([]), null, concurrentAnalysis: true, logAnalyzerExecutionTime: false));
        ImmutableArray<Diagnostic> found = await run.GetAnalyzerDiagnosticsAsync(cancellationToken);
        Diagnostic[] thrown = [.. found.Where(diagnostic => diagnostic.Id == AnalyzerThrew)];
        if (thrown.Length > 0)
        {
            string source = string.Join("\n", compilation.SyntaxTrees.Select(tree => tree.ToString()));
            throw new SnippetException("The analyzer threw.", source, thrown.Select(diagnostic => diagnostic.ToString()));
        }

        return
        [
            .. found.OrderBy(diagnostic => diagnostic.Location.SourceTree?.FilePath, StringComparer.Ordinal)
                .ThenBy(diagnostic => diagnostic.Location.SourceSpan.Start)
                .ThenBy(diagnostic => diagnostic.Id, StringComparer.Ordinal),
        ];
    }
}
