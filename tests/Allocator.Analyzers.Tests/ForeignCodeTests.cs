using System.Text.RegularExpressions;
using Allocator.Tests;
using Microsoft.CodeAnalysis.CSharp;
using Microsoft.CodeAnalysis.Diagnostics;

namespace Allocator.Analyzers.Tests;

/// <summary>Correct code that was not written for the analyzer: whatever it says there is wrong.</summary>
public sealed class ForeignCodeTests
{
    private const string Ending = ".cs.txt";

    [Fact]
    public async Task Reports_OfCorrectForeignCode_None()
    {
        ImmutableArray<Diagnostic> found = await AnalyzerRun.Of(new LifetimeAnalyzer(), Compile());

        Assert.Empty(found);
    }

    [Fact]
    public async Task Reports_OfAllFilesAtOnceOrEachAlone_AreTheSame()
    {
        // With every other `using` of an owner gone. Who asks first for what a method does must not matter.
        int usings = 0;
        const string Using = @"(?<!await )\busing (?=(var|IMemoryOwner<\w+>|PixelBuffer<\w+>) \w+ = (?!await))";
        CSharpCompilation compilation = Compile(
            text => Regex.Replace(text, Using, match => usings++ % 2 == 0 ? "" : match.Value));
        ImmutableArray<Diagnostic> all = await AnalyzerRun.Of(new LifetimeAnalyzer(), compilation);

        List<string> alone = [];
        foreach (SyntaxTree tree in compilation.SyntaxTrees.Reverse())
        {
            ImmutableArray<Diagnostic> found = await compilation.WithAnalyzers([new LifetimeAnalyzer()])
                .GetAnalyzerSemanticDiagnosticsAsync(compilation.GetSemanticModel(tree), null, CancellationToken.None);
            alone.AddRange(found.Select(diagnostic => diagnostic.ToString()));
        }

        Assert.InRange(all.Length, 20, usings);
        Assert.Equal(all.Select(diagnostic => diagnostic.ToString()).Order(), alone.Order());
    }

    private static CSharpCompilation Compile(Func<string, string>? change = null)
    {
        CSharpParseOptions options = SnippetCompilation.ParseOptions;
        IEnumerable<string> files = typeof(ForeignCodeTests).Assembly.GetManifestResourceNames()
            .Where(name => name.EndsWith(Ending, StringComparison.Ordinal)).Order(StringComparer.Ordinal);
        SyntaxTree[] trees =
        [
            CSharpSyntaxTree.ParseText(Repository.ImplicitUsings, options, "ImplicitUsings.g.cs"),
            .. files.Select(file =>
            {
                using StreamReader reader = new(typeof(ForeignCodeTests).Assembly.GetManifestResourceStream(file)!);
                string text = reader.ReadToEnd();
                return CSharpSyntaxTree.ParseText(change is null ? text : change(text), options, file[..^".txt".Length]);
            }),
        ];
        Assert.InRange(trees.Length, 45, int.MaxValue);
        CSharpCompilation compilation = CSharpCompilation.Create(
            "Foreign", trees, SnippetReferences.WithAllocator, SnippetCompilation.Options);
        SnippetCompilation.ThrowIfBroken(compilation, "");
        return compilation;
    }
}
