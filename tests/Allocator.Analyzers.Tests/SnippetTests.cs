namespace Allocator.Analyzers.Tests;

/// <summary>
/// Compares what the analyzer reports with the marks of each source in the <c>.snippets</c> files. Of the kinds, <c>body</c> are the
/// statements of a method, <c>members</c> those of a class, <c>file</c> whole types.
/// </summary>
public sealed class SnippetTests
{
    private static readonly Dictionary<string, (string Kind, string Source)> s_snippets = SnippetCorpus.Read(".snippets");

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
}
