using System.Text.RegularExpressions;

namespace Allocator.Tests.Documentation;

/// <summary>Sources and pages avoid words that make a sentence a riddle: those for persons who are threads, callers or requests.</summary>
public partial class PlainEnglishTests
{
    private static readonly string[] s_kinds = [".cs", ".md", ".sh", ".snippets", ".fixes"];

    [Theory]
    [InlineData("src")]
    [InlineData("tests")]
    [InlineData("docs")]
    [InlineData(".ci")]
    [InlineData("benchmarks")]
    public void Texts_OfAFolder_NameThreadsCallersAndRequests(string folder)
    {
        string root = Repository.PathTo(folder);
        string[] found =
        [
            .. from path in Directory.EnumerateFiles(root, "*", SearchOption.AllDirectories)
               where s_kinds.Contains(Path.GetExtension(path)) && !IsLeftOut(Path.GetRelativePath(root, path))
               from line in Find(File.ReadLines(path))
               select $"{Path.GetRelativePath(root, path)}:{line}",
        ];

        Assert.True(found.Length == 0, string.Join('\n', found));
    }

    /// <summary>Otherwise the test above could not fail.</summary>
    [Theory]
    [InlineData("// Whoever takes it returns it.", 1)]
    [InlineData("// The caller that takes it returns it.", 0)]
    public void Find_OfALine_FindsTheWords(string line, int expected) => Assert.Equal(expected, Find([line]).Count());

    /// <summary>"Where" is for places: a condition begins with "if", a time with "when". These counts may only fall.</summary>
    [Theory]
    [InlineData("where", 4)]
    [InlineData("for want of", 0)]
    [InlineData("of which", 0)]
    public void Comments_OfTheLibrary_ContainTheWordsAtMost(string words, int most)
    {
        string[] found =
        [
            .. from path in Directory.EnumerateFiles(Repository.PathTo("src", "Allocator"), "*.cs", SearchOption.AllDirectories)
               from line in FindInComments(File.ReadLines(path), words)
               select $"{Path.GetFileName(path)}:{line}",
        ];

        Assert.True(found.Length <= most, string.Join('\n', found));
    }

    /// <summary>Otherwise the test above could not fail.</summary>
    [Theory]
    [InlineData("/// <summary>Null where there is none, and where it is full.</summary>", 2)]
    [InlineData("    Call(); // Where it fails, nothing changes.", 1)]
    [InlineData("    where T : struct", 0)]
    [InlineData("// Somewhere else.", 0)]
    public void FindInComments_OfALine_FindsEachUse(string line, int expected) =>
        Assert.Equal(expected, FindInComments([line], "where").Count());

    // Results are of the programs that wrote them; and this file has the words.
    private static bool IsLeftOut(string path) =>
        path.StartsWith("results", StringComparison.Ordinal)
            || path.Split(Path.DirectorySeparatorChar).Any(static part => part is "bin" or "obj")
            || Path.GetFileName(path) == $"{nameof(PlainEnglishTests)}.cs";

    private static IEnumerable<string> Find(IEnumerable<string> lines) =>
        lines.Select(static (line, index) => (line, index)).Where(static one => Persons().IsMatch(one.line))
            .Select(static one => $"{one.index + 1}: {one.line.Trim()}");

    private static IEnumerable<string> FindInComments(IEnumerable<string> lines, string words) =>
        from one in lines.Select(static (line, index) => (Line: line, Number: index + 1))
        let start = one.Line.IndexOf("//", StringComparison.Ordinal)
        where start >= 0
        from match in Regex.Matches(one.Line[start..], $@"\b{words}\b", RegexOptions.IgnoreCase)
        select $"{one.Number}: {one.Line.Trim()}";

    [GeneratedRegex(@"\b(whoever|whomever|somebody|nobody|anybody|those who)\b", RegexOptions.IgnoreCase)]
    private static partial Regex Persons();
}
