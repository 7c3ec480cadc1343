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

    // It keeps room from others, which an allocator does not.
    [Theory]
    [InlineData("ReserveAsync(\"x\")")]
    [InlineData("ReserveAsync(1000, CancellationToken.None)")]
    public async Task NeverDisposed_Reservation_IsAWarning(string call)
    {
        Diagnostic found = Assert.Single(await Snippet.Members(
            $"public static async Task Run() {{ var job = {{|ALLOC004:await A.{call}|}}; Number = (int)job.PeakUsedBytes; }}"));
        Assert.Equal(DiagnosticSeverity.Warning, found.Severity);
    }

    [Theory]
    [InlineData(
        "IMemoryOwner<byte> header = A.Allocate<byte>(1);\nif (Yes) { {|ALLOC006:return;|} }\nheader.Dispose(); Gc();",
        "This return loses the owner allocated on line 17. Dispose it before returning.")]
    [InlineData(
        "IMemoryOwner<byte>? owner = null;\nfor (int i = 0; i < 4; i++) { {|ALLOC006:owner = A.Allocate<byte>(i)|}; }\nowner?.Dispose();",
        "This assignment drops the owner of the previous round. Dispose that first.")]
    [InlineData(
        "{|ALLOC004:Render(8)|}; static IMemoryOwner<byte> Render(int n) => A.Allocate<byte>(n);",
        "'Render' returns a new owner that nothing disposes. Keep it in a 'using' variable.")]
    [InlineData(
        "var owner = {|ALLOC004:A.Allocate<byte>(8)|}; Number = owner.Memory.Length;",
        "This owner is never disposed and never leaves the method. Declare it with 'using'.")]
    [InlineData(
        "var owner = A.Allocate<byte>(8);\nowner.Dispose();\n\nCheck({|ALLOC002:owner.Memory.Span|}[0]);",
        "The owner allocated on line 17 was disposed on line 18, and its memory may belong to another renter. "
            + "Dispose it after the last use.")]
    [InlineData(
        "Memory<byte> kept;\nusing (var owner = A.Allocate<byte>(8))\n{\nkept = owner.Memory;\n}\nCheck({|ALLOC002:kept.Span|}[0]);",
        "The owner allocated on line 18 was disposed on line 21, and its memory may belong to another renter. "
            + "Dispose it after the last use.")]
    [InlineData(
        "static IMemoryOwner<byte> Make() { using var owner = A.Allocate<byte>(8); return {|ALLOC003:owner|}; }\nKeep(Make());",
        "'using' disposes this owner when the method returns. Remove 'using'; the caller disposes.")]
    [InlineData(
        "static Task Send(Stream s) { using var o = A.Allocate<byte>(8); return {|ALLOC005:s.WriteAsync(o.Memory)|}.AsTask(); }\n"
            + "Keep(Send(Stream.Null));",
        "The owner allocated on line 17 is disposed before the task of this call has completed. Make the method async and await the task, "
            + "so that the owner is disposed afterwards.")]
    public async Task Message_OfEachCase_SaysWhatToDo(string body, string message) =>
        Assert.Equal(message, Assert.Single(await Snippet.Body(body)).GetMessage(System.Globalization.CultureInfo.InvariantCulture));

    [Fact]
    public void SupportedDiagnostics_AllOfThem_HaveARowAbove() =>
        Assert.Equal(Severities.Count(), new LifetimeAnalyzer().SupportedDiagnostics.Length);
}
