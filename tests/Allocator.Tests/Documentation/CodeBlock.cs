namespace Allocator.Tests.Documentation;

/// <summary>One <c>```csharp</c> block of a document: a whole program with top-level statements.</summary>
/// <param name="Document">The document, relative to the repository.</param>
/// <param name="Line">The number of the line that opens the block.</param>
/// <param name="IsRun">False for a block opened by <c>```csharp no-run</c>, which is only compiled.</param>
/// <param name="Code">What stands between the fences.</param>
internal sealed record CodeBlock(string Document, int Line, bool IsRun, string Code)
{
    private const string Fence = "```";

    /// <summary>
    /// Gets whether it is a web application, opened by <c>```csharp aspnetcore</c>, which <c>tests/Allocator.AspNetCore.Tests</c> starts.
    /// </summary>
    public bool IsWeb { get; init; }

    /// <summary>
    /// Gets whether it needs SkiaSharp, opened by <c>```csharp skiasharp</c>: <c>tests/Allocator.SkiaSharp.Tests</c> runs it.
    /// </summary>
    public bool IsSkia { get; init; }

    /// <summary>
    /// Gets which other library it needs, the word behind <c>client</c> in <c>```csharp client opencvsharp</c>, or null:
    /// <c>tests/Allocator.Clients.Tests</c> runs it with the real one.
    /// </summary>
    public string? Client { get; init; }

    /// <summary>Gets what the document says that it prints: a plain block behind a line that is <c>prints</c> alone; else null.</summary>
    public string? Printed { get; init; }

    /// <summary>The blocks of README.md and of all documents below docs/.</summary>
    public static IEnumerable<CodeBlock> All()
    {
        IEnumerable<string> documents = [Repository.PathTo("README.md")];
        string folder = Repository.PathTo("docs");
        if (Directory.Exists(folder))
        {
            documents = documents.Concat(Directory.EnumerateFiles(folder, "*.md", SearchOption.AllDirectories));
        }

        return documents.Order(StringComparer.Ordinal).SelectMany(Of);
    }

    private static string? PrintedBehind(string[] lines, int fence)
    {
        if (lines.Length < fence + 5 || lines[fence + 2] != "prints" || lines[fence + 4] != Fence)
        {
            return null;
        }

        int end = Array.IndexOf(lines, Fence, fence + 5);
        return string.Join('\n', lines[(fence + 5)..end]);
    }

    private static IEnumerable<CodeBlock> Of(string path)
    {
        string document = Path.GetRelativePath(Repository.Root, path);
        string[] lines = File.ReadAllLines(path);
        for (int i = 0; i < lines.Length; i++)
        {
            string opening = lines[i].Trim();
            if (!opening.StartsWith(Fence, StringComparison.Ordinal))
            {
                continue;
            }

            int start = i + 1;
            i = Array.FindIndex(lines, start, line => line.Trim() == Fence);
            if (i < 0)
            {
                throw new InvalidDataException($"{document}:{start}: the block is not closed.");
            }

            string[] information = opening[Fence.Length..].Split(' ', StringSplitOptions.RemoveEmptyEntries);
            if (information.FirstOrDefault() is "csharp" or "cs" or "c#")
            {
                yield return new CodeBlock(document, start, !information.Contains("no-run"), string.Join('\n', lines[start..i]))
                {
                    IsWeb = information.Contains("aspnetcore"),
                    IsSkia = information.Contains("skiasharp"),
                    Client = information.SkipWhile(word => word != "client").ElementAtOrDefault(1),
                    Printed = PrintedBehind(lines, i),
                };
            }
        }
    }
}
