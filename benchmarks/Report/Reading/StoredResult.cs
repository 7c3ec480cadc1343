using Measuring.Results;

namespace Report.Reading;

/// <summary>A result and where it lies.</summary>
/// <param name="Path">The path of its file, below the folder of all results, with <c>/</c> between the names.</param>
/// <param name="Document">What it says.</param>
internal sealed record StoredResult(string Path, ResultDocument Document)
{
    /// <summary>Gets the path without the ending, which pages and charts share.</summary>
    public string Stem => Path[..^".json".Length];

    /// <summary>Gets the name of the file without the ending.</summary>
    public string Name => System.IO.Path.GetFileName(Stem);

    /// <summary>Returns the path of a file that lies beside this one.</summary>
    public string Beside(string name) => Path[..^System.IO.Path.GetFileName(Path).Length] + name;
}
