using Microsoft.CodeAnalysis.Diagnostics;
using Microsoft.CodeAnalysis.Text;

namespace Allocator.Analyzers.Tests.Testing;

/// <summary>Compares what an analyzer reports with the marks of a source.</summary>
public static class AnalyzerVerifier
{
    /// <summary>Checks a file that is compiled with the allocator.</summary>
    /// <returns>The diagnostics, for checks of messages and locations.</returns>
    /// <exception cref="SnippetException">The reports differ from the marks, or the file does not compile.</exception>
    public static Task<ImmutableArray<Diagnostic>> Verify<TAnalyzer>(string markup)
        where TAnalyzer : DiagnosticAnalyzer, new() =>
        Verify<TAnalyzer>(markup, SnippetReferences.WithAllocator);

    /// <summary>Checks a file that is compiled against <paramref name="references"/>.</summary>
    /// <returns>The diagnostics, for checks of messages and locations.</returns>
    /// <exception cref="SnippetException">The reports differ from the marks, or the file does not compile.</exception>
    public static async Task<ImmutableArray<Diagnostic>> Verify<TAnalyzer>(
        string markup, ImmutableArray<MetadataReference> references, string path = "Snippet.cs")
        where TAnalyzer : DiagnosticAnalyzer, new()
    {
        MarkedSource source = MarkedSource.Parse(markup);
        Compilation compilation = SnippetCompilation.Create(source.Text, references, path);
        ImmutableArray<Diagnostic> found = await AnalyzerRun.Of(new TAnalyzer(), compilation);
        Compare(source, found);
        return found;
    }

    /// <summary>Compares <paramref name="found"/> with the marks.</summary>
    /// <exception cref="SnippetException">They differ.</exception>
    public static void Compare(MarkedSource source, ImmutableArray<Diagnostic> found)
    {
        SourceText text = SourceText.From(source.Text);
        List<string> differences = [];
        List<ExpectedDiagnostic> missing = [.. source.Expected];
        foreach (Diagnostic diagnostic in found)
        {
            ExpectedDiagnostic actual = new(diagnostic.Id, diagnostic.Location.SourceSpan);
            if (!missing.Remove(actual))
            {
                differences.Add($"unexpected {Describe(text, actual)}: {diagnostic.GetMessage()}");
            }
        }

        differences.AddRange(missing.Select(expected => $"missing    {Describe(text, expected)}"));
        if (differences.Count > 0)
        {
            throw new SnippetException("The reports differ from the marks.", source.Text, differences);
        }
    }

    private static string Describe(SourceText text, ExpectedDiagnostic diagnostic)
    {
        LinePosition start = text.Lines.GetLinePosition(diagnostic.Span.Start);
        return $"{diagnostic.Id} at line {start.Line + 1}, column {start.Character + 1}, '{text.ToString(diagnostic.Span)}'";
    }
}
