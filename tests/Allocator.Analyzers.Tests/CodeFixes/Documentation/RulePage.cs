using Allocator.Tests;
using Allocator.Tests.Documentation;

namespace Allocator.Analyzers.Tests.CodeFixes.Documentation;

/// <summary>The page of a rule below <c>docs/rules</c>, which shows code that breaks the rule and the same code put right.</summary>
internal sealed class RulePage
{
    private readonly string _path;

    public RulePage(string id) => _path = Path.Combine("docs", "rules", $"{id}.md");

    public IReadOnlyList<string> Lines => File.ReadAllLines(Repository.PathTo(_path));

    /// <summary>Gets the code below "Example".</summary>
    public string Breach => Below("## Example");

    /// <summary>Gets the code below "Fix".</summary>
    public string Remedy => Below("## Fix");

    /// <summary>Gets the code that breaks the rule because an attribute stands in it.</summary>
    public string Marked => Below("## What is inferred, and how to mark the rest");

    /// <summary>Gets the code below "When to suppress it", if any.</summary>
    public IEnumerable<string> Suppressed => BlocksBelow("## When to suppress it");

    private string Below(string heading) => BlocksBelow(heading).Single();

    private IEnumerable<string> BlocksBelow(string heading)
    {
        int start = Lines.ToList().IndexOf(heading) + 1;
        int next = Lines.ToList().FindIndex(start, line => line.StartsWith("## ", StringComparison.Ordinal)) + 1;
        int end = next == 0 ? Lines.Count + 1 : next;
        return CodeBlock.All()
            .Where(block => block.Document == _path && block.Line > start && block.Line < end)
            .Select(block => block.Code + "\n");
    }
}
