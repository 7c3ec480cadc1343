namespace Allocator.Analyzers.Tests.Testing;

/// <summary>Says why a snippet is not as its marks say, and prints it with line numbers.</summary>
public sealed class SnippetException : Exception
{
    /// <summary>Makes the message.</summary>
    public SnippetException(string summary, string source, IEnumerable<string> details)
        : base($"{summary}\n{string.Join("\n", details.Select(detail => $"  {detail}"))}\n\n{Numbered(source)}")
    {
    }

    private static string Numbered(string source) =>
        string.Join("\n", source.Split('\n').Select((line, index) => $"{index + 1,4} | {line.TrimEnd('\r')}"));
}
