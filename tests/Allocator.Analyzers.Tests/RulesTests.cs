using Allocator.Analyzers.Rules;

namespace Allocator.Analyzers.Tests;

public sealed class RulesTests
{
    public static TheoryData<string, DiagnosticSeverity> Severities => new()
    {
        { RuleIds.Finalizable, DiagnosticSeverity.Warning },
        { RuleIds.UsedAfterDispose, DiagnosticSeverity.Warning },
        { RuleIds.OutlivesOwner, DiagnosticSeverity.Warning },
        { RuleIds.NeverDisposed, DiagnosticSeverity.Warning },
        { RuleIds.Unawaited, DiagnosticSeverity.Warning },
        { RuleIds.SomePaths, DiagnosticSeverity.Info },
    };

    [Theory]
    [MemberData(nameof(Severities))]
    public void SupportedDiagnostics_Each_HasCategorySeverityAndHelpPage(string id, DiagnosticSeverity severity)
    {
        DiagnosticDescriptor rule = Assert.Single(new LifetimeAnalyzer().SupportedDiagnostics, rule => rule.Id == id);

        Assert.Equal(severity, rule.DefaultSeverity);
        Assert.Equal("Allocator.Lifetime", rule.Category);
        Assert.EndsWith(
            $" More in docs/rules/{id}.md of the package.",
            rule.Description.ToString(System.Globalization.CultureInfo.InvariantCulture),
            StringComparison.Ordinal);
        Assert.True(rule.IsEnabledByDefault);
    }

    [Fact]
    public void HelpLink_OfARule_LeadsToItsPage()
    {
        Assert.Equal(
            "https://example.org/docs/rules/ALLOC001.md", HelpPage.AddressOf(RuleIds.Finalizable, "https://example.org/docs/rules/"));
        Assert.Equal("", HelpPage.AddressOf(RuleIds.Finalizable, null));
        Assert.All(
            new LifetimeAnalyzer().SupportedDiagnostics, rule => Assert.Equal(HelpPage.AddressOf(rule.Id), rule.HelpLinkUri));
    }

    [Theory]
    [InlineData("var owner = A.Allocate<byte>(64); Number = owner.Memory.Length;", DiagnosticSeverity.Warning, "A.Allocate<byte>(64)")]
    [InlineData("var allocator = MemoryAllocator.Create(); allocator.Prewarm(1);", DiagnosticSeverity.Info, "MemoryAllocator.Create()")]
    [InlineData(
        "var owner = Make(); Number = owner.Memory.Length; IMemoryOwner<byte> Make() => A.Allocate<byte>(64);",
        DiagnosticSeverity.Info, "Make()")]
    public async Task NeverDisposed_IsAWarningWhereTheOwnerIsCertainlyMadeThere(string body, DiagnosticSeverity severity, string made)
    {
        int start = body.IndexOf(made, StringComparison.Ordinal);
        string marked = $"{body[..start]}{{|ALLOC004:{made}|}}{body[(start + made.Length)..]}";

        Assert.Equal(severity, Assert.Single(await Snippet.Body(marked)).Severity);
    }

    [Fact]
    public void SupportedDiagnostics_None_IsErrorByDefault()
    {
        IEnumerable<DiagnosticDescriptor> rules = new LifetimeAnalyzer().SupportedDiagnostics;

        Assert.DoesNotContain(rules, rule => rule.DefaultSeverity == DiagnosticSeverity.Error);
        Assert.Equal(6, rules.Count());
    }
}
