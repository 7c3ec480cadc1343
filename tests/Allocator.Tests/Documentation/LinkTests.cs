using System.Text.RegularExpressions;

namespace Allocator.Tests.Documentation;

/// <summary>What the documents refer to is there.</summary>
public partial class LinkTests
{
    [Fact]
    public void Links_OfAllDocuments_LeadToFilesAndHeadings()
    {
        string[] complaints = [.. Link.All().Select(link => link.Complaint()).OfType<string>()];

        Assert.True(complaints.Length == 0, string.Join('\n', complaints));
    }

    /// <summary>Otherwise the test above could not fail.</summary>
    [Theory]
    [InlineData("docs/README.md", "no-such-page.md", "there is no no-such-page.md")]
    [InlineData("docs/README.md", "design/README.md#no-such-heading", "there is no heading for design/README.md#no-such-heading")]
    [InlineData("docs/README.md", "../..", "leads out of the repository")]
    [InlineData("docs/README.md", "#documentation", null)]
    [InlineData("docs/rules/README.md", "../design/measured.md#what-was-decided-by-measuring", null)]
    [InlineData("README.md", "benchmarks/ThumbnailService", null)]
    public void Complaint_OfALink_NamesWhatIsMissing(string document, string target, string? expected)
    {
        string? complaint = new Link(document, 1, target).Complaint();

        if (expected is null)
        {
            Assert.Null(complaint);
        }
        else
        {
            Assert.EndsWith(expected, complaint);
        }
    }

    [Fact]
    public void Links_OfTheReadme_AreFound() =>
        Assert.Contains(
            Link.All(),
            link => link is { Document: "README.md", Target: "docs/integrations/configuration.md#keys" });

    [Fact]
    public void Architecture_FilesItNames_Exist()
    {
        string[] sources = [.. Directory.EnumerateFiles(Repository.PathTo("src"), "*.cs", SearchOption.AllDirectories)
            .Select(path => Path.GetFileName(path))];
        string[] named = [.. SourceFileName().Matches(File.ReadAllText(Repository.PathTo("docs", "architecture.md")))
            .Select(match => match.Groups["name"].Value)];

        Assert.Contains("MemoryAllocator.cs", named);
        Assert.Empty(named.Except(sources));
    }

    /// <summary>No reader finds a page that nothing leads to.</summary>
    [Fact]
    public void Pages_BelowDocs_AreLinkedFromAnotherOne()
    {
        string[] linked = [.. Link.All().Select(link =>
            Path.GetFullPath(Path.Combine(Repository.Root, Path.GetDirectoryName(link.Document)!, link.Target.Split('#')[0])))];
        string[] alone =
        [
            .. from document in Link.Documents()
               where !linked.Contains(document) && !linked.Contains(Path.GetDirectoryName(document))
               select Path.GetRelativePath(Repository.Root, document) into page
               where page is not ("README.md" or "docs/README.md")
               select page,
        ];

        Assert.True(alone.Length == 0, "No document leads to " + string.Join(", ", alone));
    }

    [Fact]
    public void Promises_EachRow_NamesExistingTests()
    {
        string[] rows = [.. File.ReadLines(Repository.PathTo("docs", "promises.md"))
            .Where(static line => line.StartsWith("| ", StringComparison.Ordinal)).Skip(1)];

        Assert.NotEmpty(rows);
        Assert.All(rows, static row =>
        {
            IReadOnlyList<Match> tests = TestName().Matches(row);
            Assert.True(tests.Count > 0, $"No test is named: {row}");
            Assert.All(tests, static test => Assert.True(
                IsTest(test.Groups["type"].Value, test.Groups["method"].Value), $"There is no test {test.Value}."));
        });
    }

    /// <summary>Otherwise the test above could not fail.</summary>
    [Theory]
    [InlineData(nameof(Promises_EachRow_NamesExistingTests), true)]
    [InlineData(nameof(IsTest), false)]
    public void IsTest_OfAMember_TellsWhetherItIsATest(string method, bool expected) =>
        Assert.Equal(expected, IsTest(nameof(LinkTests), method));

    // In the sources, because tests of other projects are named too. All public methods of test classes are tests.
    private static bool IsTest(string type, string method) =>
        Directory.EnumerateFiles(Repository.PathTo("tests"), $"{type}.cs", SearchOption.AllDirectories).Any(
            path => Regex.IsMatch(File.ReadAllText(path), $@"public (async )?(void|Task) {method}\("));

    [GeneratedRegex(@"`(?<name>\w+\.cs)`")]
    private static partial Regex SourceFileName();

    [GeneratedRegex(@"`(?<type>\w+Tests)\.(?<method>\w+)`")]
    private static partial Regex TestName();
}
