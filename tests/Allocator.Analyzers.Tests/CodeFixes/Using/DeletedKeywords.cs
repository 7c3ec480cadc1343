using Allocator.Tests;
using Microsoft.CodeAnalysis.CSharp;
using Microsoft.CodeAnalysis.CSharp.Syntax;
using Microsoft.CodeAnalysis.Text;

namespace Allocator.Analyzers.Tests.CodeFixes.Using;

/// <summary>Sources of this repository without the <c>using</c> of each owner that is declared with it.</summary>
internal sealed class DeletedKeywords
{
    private readonly Dictionary<string, SourceText> _originals;
    private readonly List<DeletedKeyword> _deleted = [];

    private DeletedKeywords(Dictionary<string, SourceText> originals, CSharpCompilation compilation)
    {
        _originals = originals;
        foreach (SyntaxTree tree in compilation.SyntaxTrees)
        {
            SemanticModel model = compilation.GetSemanticModel(tree);
            IEnumerable<LocalDeclarationStatementSyntax> declarations = tree.GetRoot().DescendantNodes()
                .OfType<LocalDeclarationStatementSyntax>()
                .Where(declaration => declaration is { UsingKeyword.RawKind: not 0, AwaitKeyword.RawKind: 0 }
                    && IsOfAnOwner(declaration, model));
            _deleted.AddRange(declarations.Select(declaration => new DeletedKeyword(
                tree.FilePath, TextSpan.FromBounds(declaration.SpanStart, declaration.Declaration.SpanStart), declaration.Span.End)));
        }
    }

    public int Count => _deleted.Count;

    /// <summary>Gets the sources without the keywords, by their paths.</summary>
    public IReadOnlyDictionary<string, SourceText> Files =>
        _originals.Keys.ToDictionary(path => path, path => Without(path, _deleted.Where(keyword => keyword.Path == path)));

    /// <summary>
    /// Reads all sources below <paramref name="folders"/>, or of a pattern in one, which make up <paramref name="assembly"/>.
    /// </summary>
    public static DeletedKeywords From(string assembly, IEnumerable<MetadataReference> references, params string[] folders)
    {
        Dictionary<string, SourceText> originals = folders
            .SelectMany(static folder => folder.EndsWith(".cs", StringComparison.Ordinal)
                ? Directory.EnumerateFiles(Repository.PathTo(Path.GetDirectoryName(folder)!), Path.GetFileName(folder))
                : Directory.EnumerateFiles(Repository.PathTo(folder), "*.cs", SearchOption.AllDirectories))
            .Where(path => File.ReadAllText(path) is string text && !NeedsGenerator(text))
            .ToDictionary(path => Path.GetRelativePath(Repository.Root, path), Read);
        originals.Add("GlobalUsings.g.cs", SourceText.From(Repository.GlobalUsings("tests", assembly, assembly + ".csproj")));
        CSharpCompilation compilation = CSharpCompilation.Create(
            assembly,
            originals.Select(file => CSharpSyntaxTree.ParseText(file.Value, new CSharpParseOptions(LanguageVersion.Latest), file.Key)),
            references,
            new CSharpCompilationOptions(OutputKind.ConsoleApplication, allowUnsafe: true));
        return new DeletedKeywords(originals, compilation);
    }

    private static bool NeedsGenerator(string text) =>
        text.Contains("[GeneratedRegex", StringComparison.Ordinal) || text.Contains("[LibraryImport", StringComparison.Ordinal);

    /// <summary>Gives those of <paramref name="diagnostics"/> that are about an owner whose keyword was deleted.</summary>
    public ImmutableArray<Diagnostic> Among(ImmutableArray<Diagnostic> diagnostics) =>
        [.. diagnostics.Where(diagnostic => KeywordOf(diagnostic) is not null)];

    /// <summary>Counts the owners that <paramref name="diagnostics"/> are about.</summary>
    public int CountOwners(ImmutableArray<Diagnostic> diagnostics) => diagnostics.Select(KeywordOf).Distinct().Count();

    /// <summary>Gives a source in which the keywords of those owners are back, and the others are not.</summary>
    public string Restored(string path, ImmutableArray<Diagnostic> diagnostics)
    {
        HashSet<DeletedKeyword?> back = [.. diagnostics.Select(KeywordOf)];
        return Without(path, _deleted.Where(keyword => keyword.Path == path && !back.Contains(keyword))).ToString();
    }

    private static SourceText Read(string path)
    {
        using FileStream stream = File.OpenRead(path);
        return SourceText.From(stream);
    }

    private static bool IsOfAnOwner(LocalDeclarationStatementSyntax declaration, SemanticModel model) =>
        declaration.Declaration.Variables[0].Initializer?.Value is InvocationExpressionSyntax call
        && model.GetSymbolInfo(call).Symbol is IMethodSymbol { ReturnType.Name: not nameof(MemoryAllocator) } method
        && method.GetReturnTypeAttributes().Any(attribute => attribute.AttributeClass?.Name == nameof(OwnedBufferAttribute));

    private SourceText Without(string path, IEnumerable<DeletedKeyword> keywords) =>
        _originals[path].WithChanges(keywords.Select(keyword => new TextChange(keyword.Span, "")));

    private DeletedKeyword? KeywordOf(Diagnostic diagnostic)
    {
        Location site = diagnostic.AdditionalLocations.Count > 0 ? diagnostic.AdditionalLocations[0] : diagnostic.Location;
        int removed = 0;
        DeletedKeyword? last = null;
        foreach (DeletedKeyword keyword in _deleted.Where(keyword => keyword.Path == site.SourceTree!.FilePath))
        {
            removed += keyword.Span.Length;
            int position = site.SourceSpan.Start + removed;
            last = position >= keyword.Span.End && position < keyword.StatementEnd ? keyword : last;
        }

        return last;
    }
}
