using System.Text.RegularExpressions;

namespace Allocator.Tests.Documentation;

/// <summary>The pages for readers of the sources use names that are in the sources, and stay short.</summary>
public partial class DesignPageTests
{
    private const int MostLines = 250;

    private static readonly Lazy<HashSet<string>> s_words = new(static () =>
    [
        .. from folder in new[] { "src", "tests", "benchmarks" }
           from path in Directory.EnumerateFiles(Repository.PathTo(folder), "*.cs", SearchOption.AllDirectories)
           where Path.GetFileName(path) != $"{nameof(DesignPageTests)}.cs"
           from Match word in Word().Matches(File.ReadAllText(path))
           select word.Value,
    ]);

    public static TheoryData<string> Pages =>
    [
        "docs/architecture.md",
        "docs/glossary.md",
        "docs/promises.md",
        .. Directory.EnumerateFiles(Repository.PathTo("docs", "design")).Select(static path => $"docs/design/{Path.GetFileName(path)}"),
    ];

    [Theory]
    [MemberData(nameof(Pages))]
    public void Names_OfAPage_AreInTheSources(string page)
    {
        string[] missing = [.. Names(File.ReadAllText(Repository.PathTo(page))).Distinct().Except(s_words.Value)];

        Assert.True(missing.Length == 0, $"{page} names what is in no source: {string.Join(", ", missing)}");
    }

    /// <summary>Otherwise the test above could not fail.</summary>
    [Theory]
    [InlineData("A `BlockArena` is 64 blocks.", "BlockArena")]
    [InlineData("`ZebraArena.TryClaim` claims.", "ZebraArena", "TryClaim")]
    [InlineData("`Rent_FromNoZebra_IsFound` failed; `madvise(2)` and `free + committed` are no names.", "Rent_FromNoZebra_IsFound")]
    public void Names_OfAText_AreWhatLooksLikeCode(string text, params string[] expected) => Assert.Equal(expected, Names(text));

    [Theory]
    [MemberData(nameof(Pages))]
    public void Page_ForItsReaders_IsShort(string page) =>
        Assert.InRange(File.ReadLines(Repository.PathTo(page)).Count(), 1, MostLines);

    // Constants of the systems (MADV_FREE) and names that begin or end with … are no names of ours.
    private static IEnumerable<string> Names(string text) =>
        from Match span in CodeSpan().Matches(text)
        from name in span.Groups["name"].Value.Split('.')
        where name.Any(char.IsLower)
        select name;

    [GeneratedRegex(@"`(?<name>[A-Z][A-Za-z0-9_]+(\.[A-Z][A-Za-z0-9_]+)*)`")]
    private static partial Regex CodeSpan();

    [GeneratedRegex(@"[A-Z]\w+")]
    private static partial Regex Word();
}
