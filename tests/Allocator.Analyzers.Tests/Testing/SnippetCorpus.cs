namespace Allocator.Analyzers.Tests.Testing;

/// <summary>
/// Sources that stand in text files, several in each: a heading <c>=== Name: kind</c>, and the source up to the next heading.
/// </summary>
internal static class SnippetCorpus
{
    private const string Heading = "=== ";

    /// <summary>Reads the files whose names end in <paramref name="ending"/>; the keys are <c>File/Name</c>.</summary>
    public static Dictionary<string, (string Kind, string Source)> Read(string ending)
    {
        Dictionary<string, (string, string)> snippets = [];
        foreach (string resource in typeof(SnippetCorpus).Assembly.GetManifestResourceNames().Where(name => name.EndsWith(ending)))
        {
            using StreamReader reader = new(typeof(SnippetCorpus).Assembly.GetManifestResourceStream(resource)!);
            string file = Path.GetFileNameWithoutExtension(resource).Split('.')[^1];
            foreach (string part in $"\n{reader.ReadToEnd().ReplaceLineEndings("\n")}".Split($"\n{Heading}").Skip(1))
            {
                int end = part.IndexOf('\n');
                string[] heading = part[..end].Split(": ");
                snippets.Add($"{file}/{heading[0]}", (heading[1], part[(end + 1)..].TrimEnd()));
            }
        }

        return snippets;
    }
}
