namespace Measurements.Report;

/// <summary>What was measured on machines with one kind of processor.</summary>
/// <param name="Notes">What is written about it by hand, in Markdown; null where there is nothing.</param>
internal sealed record ProcessorResults(string Name, string? Notes, IReadOnlyList<StoredResult> Results);

/// <summary>A result and where it lies.</summary>
/// <param name="Folder">The folder of all results.</param>
/// <param name="Path">The path of its file below that folder, with <c>/</c> between the names.</param>
internal sealed record StoredResult(string Folder, string Path, ResultDocument Document)
{
    /// <summary>Gets the path without the ending, which pages and charts share.</summary>
    public string Stem => Path[..^".json".Length];

    public string Name => System.IO.Path.GetFileName(Stem);

    /// <summary>Gets whether it is of all that the program measures, and nothing in it has failed.</summary>
    public bool IsWhole => !Document.Command.Contains(" --only ") && !Document.Command.EndsWith(" --quick", StringComparison.Ordinal)
        && Document.Failures.Count == 0;

    public string Date => Document.Date.UtcDateTime.ToString("yyyy-MM-dd", CultureInfo.InvariantCulture);

    public string Beside(string name) => Path[..^System.IO.Path.GetFileName(Path).Length] + name;
}

/// <summary>All that lies in the folder of results: a folder for each processor, with result files and perhaps notes in it.</summary>
internal sealed record ResultTree(string? Notes, IReadOnlyList<ProcessorResults> Processors)
{
    /// <summary>The name of the file with what is written by hand; the index of its folder begins with it.</summary>
    public const string NotesName = "NOTES.md";

    public static ResultTree Read(string folder)
    {
        IEnumerable<ProcessorResults> processors =
            from name in Names(folder, Directory.EnumerateDirectories(folder))
            let files = Directory.EnumerateFiles(Path.Combine(folder, name), "*.json", SearchOption.AllDirectories)
            select new ProcessorResults(
                name,
                ReadNotes(Path.Combine(folder, name)),
                [.. Names(folder, files).Select(path => ReadResult(folder, path)).OfType<StoredResult>()]);
        return new ResultTree(ReadNotes(folder), [.. processors.Where(one => one.Results.Count > 0 || one.Notes is not null)]);
    }

    // Other files may lie here too; whatever names a program should also have all the rest.
    private static StoredResult? ReadResult(string folder, string path)
    {
        string file = Path.Combine(folder, path);
        try
        {
            using JsonDocument json = JsonDocument.Parse(File.ReadAllText(file));
            return json.RootElement.ValueKind == JsonValueKind.Object && json.RootElement.TryGetProperty("program", out _)
                ? new StoredResult(folder, path, ResultFile.Read(file))
                : null;
        }
        catch (Exception exception) when (exception is JsonException or InvalidDataException)
        {
            throw new InvalidDataException($"{path}: {exception.Message}", exception);
        }
    }

    private static string? ReadNotes(string folder)
    {
        string file = Path.Combine(folder, NotesName);
        return File.Exists(file) ? File.ReadAllText(file).ReplaceLineEndings("\n").Trim() : null;
    }

    // The same order on every system.
    private static IEnumerable<string> Names(string folder, IEnumerable<string> paths)
        => paths.Select(path => Path.GetRelativePath(folder, path).Replace('\\', '/')).Order(StringComparer.Ordinal);
}
