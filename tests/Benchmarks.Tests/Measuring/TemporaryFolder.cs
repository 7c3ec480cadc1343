namespace Measuring.Tests;

/// <summary>A folder that is deleted after the test.</summary>
internal sealed class TemporaryFolder : IDisposable
{
    private readonly DirectoryInfo _folder = Directory.CreateTempSubdirectory("measuring-tests-");

    public string Path => _folder.FullName;

    /// <summary>Returns the path of a file below the folder, whose own folders are made.</summary>
    public string At(string path)
    {
        string full = System.IO.Path.Combine(Path, path);
        _ = Directory.CreateDirectory(System.IO.Path.GetDirectoryName(full)!);
        return full;
    }

    public void Dispose() => _folder.Delete(recursive: true);
}
