using System.Text.Json;

namespace Measurements.Report;

/// <summary>What was measured on machines with one kind of processor.</summary>
/// <param name="Notes">What somebody wrote about it by hand, in Markdown; null where nobody did.</param>
internal sealed record ProcessorResults(string Name, string? Notes, IReadOnlyList<StoredResult> Results);

/// <summary>A result and where it lies.</summary>
/// <param name="Path">The path of its file, below the folder of all results, with <c>/</c> between the names.</param>
internal sealed record StoredResult(string Path, ResultDocument Document)
{
    /// <summary>Gets the path without the ending, which pages and charts share.</summary>
    public string Stem => Path[..^".json".Length];

    public string Name => System.IO.Path.GetFileName(Stem);

    public string Beside(string name) => Path[..^System.IO.Path.GetFileName(Path).Length] + name;
}

/// <summary>All that lies in the folder of results: a folder for each processor, with result files and perhaps notes in it.</summary>
internal sealed class ResultTree
{
    /// <summary>The name of the file with what is written by hand; the index of its folder begins with it.</summary>
    public const string NotesName = "NOTES.md";

    private readonly string _folder;
    private readonly List<string> _skipped = [];
    private readonly List<string> _damages = [];

    private ResultTree(string folder)
    {
        _folder = folder;
        Notes = ReadNotes("");
        _skipped.AddRange(Names(Directory.EnumerateFiles(folder, "*.json")).Select(name => $"{name}: it lies in no processor's folder"));
        Processors = [.. Names(Directory.EnumerateDirectories(folder)).Select(ReadProcessor).Where(HasContent)];
    }

    /// <summary>Gets what somebody wrote about all results, in Markdown; null where nobody did.</summary>
    public string? Notes { get; }

    public IReadOnlyList<ProcessorResults> Processors { get; }

    public IReadOnlyList<string> Skipped => _skipped;

    /// <summary>Gets the files that should be results, and what is wrong with them.</summary>
    public IReadOnlyList<string> Damages => _damages;

    public static ResultTree Read(string folder) => new(folder);

    private ProcessorResults ReadProcessor(string name)
    {
        string folder = Path.Combine(_folder, name);
        IEnumerable<string> paths = Names(Directory.EnumerateFiles(folder, "*.json", SearchOption.AllDirectories));
        return new ProcessorResults(name, ReadNotes(name), [.. paths.Select(ReadResult).OfType<StoredResult>()]);
    }

    private bool HasContent(ProcessorResults processor)
    {
        bool hasContent = processor.Results.Count > 0 || processor.Notes is not null;
        if (!hasContent)
        {
            _skipped.Add($"{processor.Name}: it has neither results nor {NotesName}");
        }

        return hasContent;
    }

    private StoredResult? ReadResult(string path)
    {
        string file = Path.Combine(_folder, path);
        try
        {
            if (!ClaimsToBeResult(file))
            {
                _skipped.Add($"{path}: it is no result of a measurement program");
                return null;
            }

            ResultDocument document = ResultFile.Read(file);
            ResultCheck.Check(document);
            return new StoredResult(path, document);
        }
        catch (Exception exception) when (exception is JsonException or InvalidDataException)
        {
            // The reader's own message begins with the whole path of this machine.
            _damages.Add($"{path}: {exception.Message.Replace(file + " ", "it ", StringComparison.Ordinal)}");
            return null;
        }
    }

    // Other files may lie here too; whatever names a program should also have all the rest.
    private static bool ClaimsToBeResult(string file)
    {
        using JsonDocument json = JsonDocument.Parse(File.ReadAllText(file));
        return json.RootElement.ValueKind == JsonValueKind.Object && json.RootElement.TryGetProperty("program", out _);
    }

    private string? ReadNotes(string processor)
    {
        string file = Path.Combine(_folder, processor, NotesName);
        return File.Exists(file) ? File.ReadAllText(file).ReplaceLineEndings("\n").Trim() : null;
    }

    // The same order on every system.
    private IEnumerable<string> Names(IEnumerable<string> paths)
        => paths.Select(path => Path.GetRelativePath(_folder, path).Replace('\\', '/')).Order(StringComparer.Ordinal);
}
