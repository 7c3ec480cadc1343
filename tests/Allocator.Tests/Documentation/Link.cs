using System.Text.RegularExpressions;

namespace Allocator.Tests.Documentation;

/// <summary>One link or picture of a document that leads to a file of the repository.</summary>
/// <param name="Document">The document, relative to the repository.</param>
/// <param name="Line">The number of the line.</param>
/// <param name="Target">What stands in the link, anchor and all.</param>
internal sealed partial record Link(string Document, int Line, string Target)
{
    private const string Fence = "```";

    /// <summary>The links within the repository of the documents at its root and of all below docs/.</summary>
    public static IEnumerable<Link> All() => Documents().SelectMany(Of);

    /// <summary>The documents at the root of the repository, and all below docs/.</summary>
    public static IEnumerable<string> Documents() => Directory.EnumerateFiles(Repository.Root, "*.md")
        .Concat(Directory.EnumerateFiles(Repository.PathTo("docs"), "*.md", SearchOption.AllDirectories))
        .Order(StringComparer.Ordinal);

    /// <summary>Says what is wrong with the link; null where it leads to what is there.</summary>
    public string? Complaint()
    {
        string[] parts = Target.Split('#', 2);
        string document = Repository.PathTo(Document);
        string path = parts[0].Length == 0
            ? document
            : Path.GetFullPath(Path.Combine(Path.GetDirectoryName(document)!, Uri.UnescapeDataString(parts[0])));
        if (!File.Exists(path) && !Directory.Exists(path))
        {
            return $"{Document}:{Line}: there is no {Target}";
        }

        if (!path.StartsWith(Repository.Root, StringComparison.Ordinal))
        {
            return $"{Document}:{Line}: {Target} leads out of the repository";
        }

        return parts.Length == 1 || Anchors(path).Contains(parts[1]) ? null : $"{Document}:{Line}: there is no heading for {Target}";
    }

    /// <summary>The anchors that a reader of Markdown makes of a document's headings, as GitHub and its like do.</summary>
    internal static IReadOnlyCollection<string> Anchors(string path)
    {
        Dictionary<string, int> seen = [];
        List<string> anchors = [];
        foreach ((string text, _) in Prose(path).Where(line => Heading().IsMatch(line.Text)))
        {
            string heading = LinkOrPicture().Replace(Heading().Replace(text, ""), "${text}");
            string anchor = NotOfAnAnchor().Replace(heading.Trim().ToLowerInvariant(), "").Replace(' ', '-');
            anchors.Add(seen.TryGetValue(anchor, out int before) ? $"{anchor}-{before}" : anchor);
            seen[anchor] = before + 1;
        }

        return anchors;
    }

    private static IEnumerable<Link> Of(string path) =>
        from line in Prose(path)
        from match in LinkOrPicture().Matches(InlineCode().Replace(line.Text, "`code`"))
        let target = match.Groups["target"].Value
        where !Address().IsMatch(target)
        select new Link(Path.GetRelativePath(Repository.Root, path), line.Number, target);

    // What stands between fences is code.
    private static IEnumerable<(string Text, int Number)> Prose(string path)
    {
        bool isCode = false;
        int number = 0;
        foreach (string line in File.ReadLines(path))
        {
            number++;
            bool isFence = line.TrimStart().StartsWith(Fence, StringComparison.Ordinal);
            isCode ^= isFence;
            if (!isCode && !isFence)
            {
                yield return (line, number);
            }
        }
    }

    // [text](target), ![text](target) and, around a picture, [![text](picture)](target).
    [GeneratedRegex(@"\[(?<text>[^\[\]]*)\]\((?<target>[^()\s]+)\)|(?<=\))\]\((?<target>[^()\s]+)\)")]
    private static partial Regex LinkOrPicture();

    [GeneratedRegex("`[^`]*`")]
    private static partial Regex InlineCode();

    [GeneratedRegex("^#{1,6} +")]
    private static partial Regex Heading();

    [GeneratedRegex(@"[^\p{L}\p{N}\p{M} _-]")]
    private static partial Regex NotOfAnAnchor();

    [GeneratedRegex("^[a-z]+:", RegexOptions.IgnoreCase)]
    private static partial Regex Address();
}
