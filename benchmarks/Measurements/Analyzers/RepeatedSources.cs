using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp;
using Microsoft.CodeAnalysis.CSharp.Syntax;

namespace Measurements.Analyzers;

/// <summary>Makes larger compilations of sources: each copy in a namespace of its own, so that it calls itself and no other.</summary>
internal sealed class RepeatedSources(IEnumerable<SyntaxTree> trees, string projectUsings = "")
{
    private readonly CompilationUnitSyntax[] _files =
    [
        .. trees.Select(tree => tree.GetCompilationUnitRoot()).Where(file => !file.Members.OfType<GlobalStatementSyntax>().Any()),
    ];

    /// <summary>Gives copies of all files, one after the other, until they have so many lines.</summary>
    public IEnumerable<SyntaxTree> Copies(string name, int lines, CSharpParseOptions options)
    {
        int left = lines;
        for (int copy = 0; left > 0; copy++)
        {
            foreach (CompilationUnitSyntax file in _files)
            {
                string text = Wrapped(file, $"{name}{copy}");
                left -= LinesOf(file);
                yield return CSharpSyntaxTree.ParseText(text, options, $"/{name}{copy}/{Path.GetFileName(file.SyntaxTree.FilePath)}");
            }
        }
    }

    /// <summary>Gives the same sources once, in fewer files of at least so many lines.</summary>
    public IEnumerable<SyntaxTree> Merged(int lines, CSharpParseOptions options)
    {
        StringBuilder text = new();
        int merged = 0;
        int number = 0;
        foreach (CompilationUnitSyntax file in _files)
        {
            text.Append(Wrapped(file, "Merged"));
            merged += LinesOf(file);
            if (merged >= lines || file == _files[^1])
            {
                yield return CSharpSyntaxTree.ParseText(text.ToString(), options, $"/Merged/{number++}.cs");
                text.Clear();
                merged = 0;
            }
        }
    }

    private static int LinesOf(SyntaxNode file) => file.GetText().Lines.Count;

    private string Wrapped(CompilationUnitSyntax file, string name)
    {
        IEnumerable<UsingDirectiveSyntax> usings = file.Usings.Where(directive => directive.GlobalKeyword.RawKind == 0);
        return $$"""
            namespace {{name}}
            {
            {{projectUsings}}{{string.Concat(usings.Select(directive => directive.ToFullString()))}}
            {{string.Concat(file.Members.Select(MemberText))}}
            }

            """;
    }

    private static string MemberText(MemberDeclarationSyntax member) => member is FileScopedNamespaceDeclarationSyntax scoped
        ? $"namespace {scoped.Name}\n{{\n{scoped.Usings.ToFullString()}{scoped.Members.ToFullString()}\n}}\n"
        : member.ToFullString();
}
