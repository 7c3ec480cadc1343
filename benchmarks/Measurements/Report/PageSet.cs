namespace Measurements.Report;

/// <summary>The files to be written, none of them twice.</summary>
internal sealed class PageSet(string folder)
{
    private readonly string _folder = folder;
    private readonly SortedDictionary<string, string> _contents = new(StringComparer.Ordinal);

    /// <exception cref="InvalidDataException">Another file has that path, or somebody writes it by hand.</exception>
    public void Add(string path, string content)
    {
        if (Path.GetFileName(path) == ResultTree.NotesName)
        {
            throw new InvalidDataException($"its page would be {path}, which is written by hand.");
        }

        if (!_contents.TryAdd(path, content))
        {
            throw new InvalidDataException($"it needs the file {path}, and so does another result.");
        }
    }

    public bool Exists(string path) => File.Exists(Path.Combine(_folder, path));

    public IEnumerable<string> Write()
    {
        foreach ((string path, string content) in _contents)
        {
            File.WriteAllText(Path.Combine(_folder, path), content);
            yield return path;
        }
    }

    public IEnumerable<string> FindStrangers(ResultTree tree)
    {
        List<StoredResult> results = [.. tree.Processors.SelectMany(processor => processor.Results)];
        IEnumerable<string> known = results.SelectMany(result => result.Document.Pictures.Select(picture => result.Beside(picture.File)));
        IEnumerable<string> found = results.Select(result => result.Beside("")).Distinct().SelectMany(
            folder => Directory.EnumerateFiles(Path.Combine(_folder, folder)).Select(file => folder + Path.GetFileName(file)));
        return found
            .Where(path => Path.GetExtension(path) is ".md" or ".svg" && Path.GetFileName(path) != ResultTree.NotesName)
            .Except(_contents.Keys).Except(known).Order(StringComparer.Ordinal);
    }
}
