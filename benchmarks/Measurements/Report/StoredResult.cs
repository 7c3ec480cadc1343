namespace Measurements.Report;

/// <summary>A result and where it lies.</summary>
/// <param name="Path">The path of its file, below the folder of all results, with <c>/</c> between the names.</param>
internal sealed record StoredResult(string Path, ResultDocument Document)
{
    /// <summary>Gets the path without the ending, which pages and charts share.</summary>
    public string Stem => Path[..^".json".Length];

    public string Name => System.IO.Path.GetFileName(Stem);

    public string Beside(string name) => Path[..^System.IO.Path.GetFileName(Path).Length] + name;
}
