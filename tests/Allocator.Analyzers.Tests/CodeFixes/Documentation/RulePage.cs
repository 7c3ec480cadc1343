using Allocator.Tests;
using Allocator.Tests.Documentation;

namespace Allocator.Analyzers.Tests.CodeFixes.Documentation;

/// <summary>The page of a rule below <c>docs/rules</c>: code that breaks the rule, and the lines that put it right.</summary>
internal sealed class RulePage
{
    private readonly string _path;

    public RulePage(string id) => _path = Path.Combine("docs", "rules", $"{id}.md");

    /// <summary>Gets the code that breaks each rule because of its marks.</summary>
    public static string Marked => CodeOf(Path.Combine("docs", "rules", "README.md"));

    public IReadOnlyList<string> Lines => File.ReadAllLines(Repository.PathTo(_path));

    /// <summary>Gets the code that breaks the rule.</summary>
    public string Breach => CodeOf(_path);

    /// <summary>Gets the same code with the changes that the page shows, parted by lines with <c>@@</c>.</summary>
    public string Remedy
    {
        get
        {
            string remedy = Breach;
            string[] diff = [.. Lines.SkipWhile(static line => line != "```diff").Skip(1).TakeWhile(static line => line != "```")];
            foreach (string change in string.Join('\n', diff).Split("\n@@\n"))
            {
                string before = Side(change, '-');
                Assert.Contains(before, remedy, StringComparison.Ordinal);
                remedy = remedy.Replace(before, Side(change, '+'), StringComparison.Ordinal);
            }

            return remedy;
        }
    }

    private static string CodeOf(string path) => CodeBlock.All().Single(block => block.Document == path).Code + "\n";

    private static string Side(string change, char mark) =>
        string.Concat(change.Split('\n').Where(line => line[0] == mark || line[0] == ' ').Select(static line => line[1..] + "\n"));
}
