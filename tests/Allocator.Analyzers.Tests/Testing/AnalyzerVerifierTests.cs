using Microsoft.CodeAnalysis.Diagnostics;

namespace Allocator.Analyzers.Tests.Testing;

/// <summary>The kit itself: a check that lets mistakes pass would make every other test worthless.</summary>
public sealed class AnalyzerVerifierTests
{
    private const string Opening =
        "public static class Example { public static void Run() { Allocator.MemoryAllocator a = Allocator.MemoryAllocator.Default; ";

    [Theory]
    [InlineData("{|ALLOC001:a.ReleaseRetainedResources()|};", "missing    ALLOC001")]
    [InlineData("a.Allocate<byte>(1);", "unexpected ALLOC004")]
    [InlineData("{|ALLOC004:a.Allocate<byte>(1);|}", "missing    ALLOC004")]
    [InlineData("{|ALLOC001:a.Allocate<byte>(1)|};", "missing    ALLOC001")]
    [InlineData("missing();", "CS0103")]
    public async Task Verify_WrongMarkOrSource_Throws(string statement, string message)
    {
        SnippetException exception = await Assert.ThrowsAsync<SnippetException>(
            () => AnalyzerVerifier.Verify<LifetimeAnalyzer>($"{Opening}{statement} }} }}"));

        Assert.Contains(message, exception.Message, StringComparison.Ordinal);
    }

    [Fact]
    public async Task Verify_AnalyzerThatThrows_Throws()
    {
        SnippetException exception = await Assert.ThrowsAsync<SnippetException>(
            () => AnalyzerVerifier.Verify<ThrowingAnalyzer>(Opening + "} }"));

        Assert.Contains("AD0001", exception.Message, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("{|ALLOC001:never closed")]
    [InlineData("{|never named")]
    public void Parse_BrokenMark_Throws(string markup) =>
        Assert.Throws<FormatException>(() => MarkedSource.Parse(markup));

    [Fact]
    public void Parse_NestedMarks_GivesPlainTextAndBothSpans()
    {
        MarkedSource source = MarkedSource.Parse("a {|X1:b {|X2:c|}|} d");

        Assert.Equal("a b c d", source.Text);
        Assert.Equal(
            [("X1", "b c"), ("X2", "c")],
            source.Expected.Select(mark => (mark.Id, source.Text.Substring(mark.Span.Start, mark.Span.Length))));
    }

#pragma warning disable RS1036, RS1038, RS1041, RS2008 // An analyzer for this test alone, never shipped.
    [DiagnosticAnalyzer(LanguageNames.CSharp)]
    private sealed class ThrowingAnalyzer : DiagnosticAnalyzer
    {
        private static readonly DiagnosticDescriptor s_rule = new("X1", "X1", "X1", "X", DiagnosticSeverity.Warning, true);

        public override ImmutableArray<DiagnosticDescriptor> SupportedDiagnostics => [s_rule];

        public override void Initialize(AnalysisContext context)
        {
            context.ConfigureGeneratedCodeAnalysis(GeneratedCodeAnalysisFlags.None);
            context.EnableConcurrentExecution();
            context.RegisterCompilationAction(_ => throw new InvalidOperationException());
        }
    }
#pragma warning restore RS1036, RS1038, RS1041, RS2008
}
