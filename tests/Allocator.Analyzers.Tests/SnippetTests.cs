namespace Allocator.Analyzers.Tests;

/// <summary>
/// Compares what the analyzer reports with the marks of each source in the <c>.snippets</c> files. A source begins below its heading,
/// <c>=== Name: body</c> for the statements of a method, <c>members</c> for those of a class, <c>file</c> for whole types.
/// </summary>
public sealed class SnippetTests
{
    private const string Ending = ".snippets";
    private const string Heading = "=== ";

    private static readonly Dictionary<string, (string Kind, string Source)> s_snippets = ReadAll();

    public static TheoryData<string> Names => [.. s_snippets.Keys];

    [Theory]
    [MemberData(nameof(Names))]
    public Task Reports_OfASnippet_AreItsMarks(string name) => s_snippets[name] switch
    {
        ("body", string source) => Snippet.Body(source),
        ("members", string source) => Snippet.Members(source),
        ("file", string source) => Snippet.File(source),
        (string kind, _) => throw new InvalidDataException($"{name} is of an unknown kind, {kind}."),
    };

    private static Dictionary<string, (string Kind, string Source)> ReadAll()
    {
        Dictionary<string, (string, string)> snippets = [];
        foreach (string resource in typeof(SnippetTests).Assembly.GetManifestResourceNames().Where(name => name.EndsWith(Ending)))
        {
            using StreamReader reader = new(typeof(SnippetTests).Assembly.GetManifestResourceStream(resource)!);
            string file = resource[..^Ending.Length].Split('.')[^1];
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
