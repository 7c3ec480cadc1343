using Allocator.Analyzers.Rules;

namespace Allocator.Analyzers.Tests;

public sealed class RulesTests
{
    public static TheoryData<string, DiagnosticSeverity> Severities => new()
    {
        { RuleIds.Finalizable, DiagnosticSeverity.Warning },
        { RuleIds.UsedAfterDispose, DiagnosticSeverity.Warning },
        { RuleIds.OutlivesOwner, DiagnosticSeverity.Warning },
        { RuleIds.NeverDisposed, DiagnosticSeverity.Info },
        { RuleIds.Unawaited, DiagnosticSeverity.Warning },
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
    public void SupportedDiagnostics_None_IsErrorByDefault()
    {
        IEnumerable<DiagnosticDescriptor> rules = new LifetimeAnalyzer().SupportedDiagnostics;

        Assert.DoesNotContain(rules, rule => rule.DefaultSeverity == DiagnosticSeverity.Error);
        Assert.Equal(5, rules.Count());
    }
}
