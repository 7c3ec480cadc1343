using Microsoft.CodeAnalysis.CSharp;

namespace Allocator.Analyzers.Tests.Testing;

/// <summary>Compiles snippets, and refuses those that do not compile: a silent analyzer proves nothing there.</summary>
public static class SnippetCompilation
{
    /// <summary>Gets the options that snippets are parsed with.</summary>
    public static CSharpParseOptions ParseOptions { get; } = new(LanguageVersion.Latest, DocumentationMode.None);

    /// <summary>Gets the options that snippets are compiled with.</summary>
    public static CSharpCompilationOptions Options { get; } =
        new(OutputKind.DynamicallyLinkedLibrary, allowUnsafe: true, nullableContextOptions: NullableContextOptions.Enable);

    /// <summary>Compiles one file.</summary>
    /// <exception cref="SnippetException">It has errors.</exception>
    public static CSharpCompilation Create(string source, ImmutableArray<MetadataReference> references, string path = "Snippet.cs")
    {
        SyntaxTree tree = CSharpSyntaxTree.ParseText(source, ParseOptions, path);
        CSharpCompilation compilation = CSharpCompilation.Create("Snippet", [tree], references, Options);
        ThrowIfBroken(compilation, source);
        return compilation;
    }

    /// <summary>Refuses a compilation that has errors.</summary>
    /// <exception cref="SnippetException">It has errors.</exception>
    public static void ThrowIfBroken(Compilation compilation, string source)
    {
        Diagnostic[] errors = [.. compilation.GetDiagnostics().Where(diagnostic => diagnostic.Severity == DiagnosticSeverity.Error)];
        if (errors.Length > 0)
        {
            throw new SnippetException("The snippet does not compile.", source, errors.Select(error => error.ToString()));
        }
    }
}
