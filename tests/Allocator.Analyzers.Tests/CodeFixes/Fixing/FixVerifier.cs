using Microsoft.CodeAnalysis.CodeFixes;
using Microsoft.CodeAnalysis.CSharp;

namespace Allocator.Analyzers.Tests.CodeFixes.Fixing;

/// <summary>
/// Holds a fix to what it should make of a file, and to what every fix owes: the result compiles, and the report is gone.
/// </summary>
internal static class FixVerifier
{
    /// <summary>Applies the first offer until there is none, and "fix all"; both give <paramref name="after"/>.</summary>
    public static async Task Fixes<TFix>(string before, string after, LanguageVersion language = LanguageVersion.Latest)
        where TFix : CodeFixProvider, new()
    {
        FixedProject one = FixedProject.Of(before, new TFix(), language);
        while (!(await one.Diagnostics()).IsEmpty)
        {
            await one.FixFirst();
        }

        Assert.Equal(after, await one.Text());
        await FixesAll<TFix>(before, after, language);
    }

    /// <summary>Applies "fix all", which gives <paramref name="after"/>.</summary>
    public static async Task FixesAll<TFix>(string before, string after, LanguageVersion language = LanguageVersion.Latest)
        where TFix : CodeFixProvider, new()
    {
        FixedProject all = FixedProject.Of(before, new TFix(), language);
        await all.FixAll(await all.Diagnostics());
        Assert.Equal(after, await all.Text());
        Assert.Empty(await all.Diagnostics());
        Assert.Empty(await all.EmitErrors());
    }

    /// <summary>Makes sure that there is something to fix, and that nothing is offered.</summary>
    public static async Task OffersNothing<TFix>(string source, LanguageVersion language = LanguageVersion.Latest)
        where TFix : CodeFixProvider, new()
    {
        FixedProject project = FixedProject.Of(source, new TFix(), language);
        ImmutableArray<Diagnostic> diagnostics = await project.Diagnostics();
        Assert.NotEmpty(diagnostics);
        foreach (Diagnostic diagnostic in diagnostics)
        {
            Assert.Empty(await project.Offers(diagnostic));
        }
    }
}
