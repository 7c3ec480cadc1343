using Allocator.Analyzers.Rules;
using Allocator.Analyzers.Tests.CodeFixes.Fixing;
using Allocator.CodeFixes.Awaiting;
using Allocator.CodeFixes.Using;
using Allocator.Tests;
using Microsoft.CodeAnalysis.CodeFixes;
using Microsoft.CodeAnalysis.CSharp;

namespace Allocator.Analyzers.Tests.CodeFixes.Documentation;

/// <summary>What the pages say is what the rules and the fixes do.</summary>
public class RulePageTests
{
    private static readonly ImmutableArray<DiagnosticDescriptor> s_rules = new LifetimeAnalyzer().SupportedDiagnostics;

    public static TheoryData<string> Rules() => [.. s_rules.Select(rule => rule.Id)];

    [Theory]
    [MemberData(nameof(Rules))]
    public void Page_OfARule_HasItsTitleAndSeverity(string id)
    {
        DiagnosticDescriptor rule = s_rules.Single(rule => rule.Id == id);
        IReadOnlyList<string> lines = new RulePage(id).Lines;

        Assert.Equal($"# {id}: {rule.Title}", lines[0]);
        string severity = rule.DefaultSeverity == DiagnosticSeverity.Info ? "suggestion" : "warning";
        Assert.StartsWith($"Category `{rule.Category}`, severity **{severity}**", lines[2], StringComparison.Ordinal);
    }

    [Theory]
    [MemberData(nameof(Rules))]
    public async Task Example_OfARule_BreaksItAndNoOther(string id) =>
        Assert.Equal([id], (await Reported(new RulePage(id).Breach)).Select(found => found.Id));

    [Theory]
    [MemberData(nameof(Rules))]
    public async Task Fix_OfTheExample_BreaksNoRule(string id) => Assert.Empty(await Reported(new RulePage(id).Remedy));

    [Fact]
    public async Task MarkedExample_BreaksEachRule_AndNoneWithoutItsMarks()
    {
        string marked = RulePage.Marked;
        string unmarked = marked.Replace("[Borrowed] ", "", StringComparison.Ordinal)
            .Replace("    [return: OwnedBuffer]\n", "", StringComparison.Ordinal);

        ImmutableArray<Diagnostic> found = await Reported(marked);

        Assert.Equal(s_rules.Select(static rule => rule.Id).Order(), found.Select(static one => one.Id).Order());
        Assert.All(found, one => Assert.EndsWith($"// {one.Id}", marked.Split('\n')[Line(one)], StringComparison.Ordinal));
        Assert.Empty(await Reported(unmarked));
    }

    [Theory]
    [InlineData(RuleIds.Finalizable, typeof(DeclareOwnerWithUsing))]
    [InlineData(RuleIds.NeverDisposed, typeof(DeclareOwnerWithUsing))]
    [InlineData(RuleIds.Unawaited, typeof(AwaitReturnedTask))]
    public async Task CodeFix_OfTheExample_WritesWhatThePageShows(string id, Type fix)
    {
        RulePage page = new(id);
        CodeFixProvider provider = (CodeFixProvider)Activator.CreateInstance(fix)!;
        FixedProject project = FixedProject.Of(
            Repository.ImplicitUsings + page.Breach, provider, LanguageVersion.Latest, OutputKind.ConsoleApplication);

        await project.FixFirst();

        Assert.Equal(Repository.ImplicitUsings + page.Remedy, await project.Text());
    }

    [Fact]
    public async Task SuppressedExample_BreaksNoRuleAloud() =>
        Assert.Empty(await Reported("#pragma warning disable ALLOC001\n" + new RulePage(RuleIds.Finalizable).Breach));

    private static int Line(Diagnostic found) =>
        found.Location.GetLineSpan().StartLinePosition.Line - Repository.ImplicitUsings.Count(character => character == '\n');

    private static Task<ImmutableArray<Diagnostic>> Reported(string program)
    {
        CSharpCompilation compilation = CSharpCompilation.Create(
            "Example",
            [
                CSharpSyntaxTree.ParseText(
                    Repository.ImplicitUsings + program, new CSharpParseOptions(LanguageVersion.Latest), "Example.cs"),
            ],
            SnippetReferences.WithAllocator,
            SnippetCompilation.Options.WithOutputKind(OutputKind.ConsoleApplication));
        SnippetCompilation.ThrowIfBroken(compilation, program);
        return AnalyzerRun.Of(new LifetimeAnalyzer(), compilation);
    }
}
