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

    // Results are of the programs that wrote them; and this file has the words.
    private static bool IsLeftOut(string path) =>
        path.StartsWith("results", StringComparison.Ordinal)
            || path.Split(Path.DirectorySeparatorChar).Any(static part => part is "bin" or "obj")
            || Path.GetFileName(path) == $"{nameof(PlainEnglishTests)}.cs";

    private static IEnumerable<string> Find(IEnumerable<string> lines) =>
        lines.Select(static (line, index) => (line, index)).Where(static one => Persons().IsMatch(one.line))
            .Select(static one => $"{one.index + 1}: {one.line.Trim()}");

    [GeneratedRegex(@"\b(whoever|whomever|somebody|nobody|anybody|those who)\b", RegexOptions.IgnoreCase)]
    private static partial Regex Persons();
}
