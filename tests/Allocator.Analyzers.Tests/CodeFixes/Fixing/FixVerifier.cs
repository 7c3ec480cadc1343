using Microsoft.CodeAnalysis.CodeFixes;
using Microsoft.CodeAnalysis.CSharp;

namespace Allocator.Analyzers.Tests.CodeFixes.Fixing;

/// <summary>
/// Holds a fix to what it should make of a file, and to what every fix owes: the result compiles, and the report is gone.
/// </summary>
internal static class FixVerifier
{
    /// <summary>What the members of a case stand behind.</summary>
    public const string Head =
        """
        using System;
        using System.Buffers;
        using System.Collections.Generic;
        using System.IO;
        using System.Linq;
        using System.Runtime.CompilerServices;
        using System.Threading.Tasks;
        using Allocator;

        public class Snippet
        {
            private readonly MemoryAllocator _allocator = MemoryAllocator.Default;
            private readonly object _lock = new();
            private readonly Random _random = new();

            private static void Use(Span<byte> span) => span.Clear();


        """;

    private static readonly Dictionary<string, (string Kind, string Source)> s_cases = SnippetCorpus.Read(".fixes");

    /// <summary>Gets the names of the cases of all <c>.fixes</c> files.</summary>
    public static TheoryData<string> Cases => [.. s_cases.Keys];

    /// <summary>
    /// Checks a case: of the kinds, <c>fixes</c> and <c>fixes all</c> have the file before and after, divided by <c>---</c>, and
    /// <c>nothing</c> has one that nothing is offered for.
    /// </summary>
    public static Task Check<TFix>(string name, string head = Head)
        where TFix : CodeFixProvider, new()
    {
        (string kind, string source) = s_cases[name];
        string[] files = [.. source.Split("\n---\n").Select(file => head + file + "\n}\n")];
        return kind switch
        {
            "fixes" => Fixes<TFix>(files[0], files[1]),
            "fixes all" => FixesAll<TFix>(files[0], files[1]),
            _ => OffersNothing<TFix>(files[0]),
        };
    }

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

        // Of no rule: a fix that leads to another mistake is none.
        Assert.Empty(await all.AllDiagnostics());
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
