namespace Allocator.PackageTests;

/// <summary>The same sources give the same package, wherever they are packed.</summary>
[Collection(nameof(PackedLibrary))]
public class ReproducibilityTests(PackedLibrary library)
{
    /// <summary>
    /// A folder of another length and name, files written in another order, another branch, time zone and language, and later.
    /// </summary>
    [Fact]
    public void Pack_OfTheSameSourcesElsewhere_GivesTheSameBytes()
    {
        string sources = library.Folder(Path.Combine("elsewhere", "with another name"));
        SourceCopy.Make(library.Sources, sources, backwards: true);
        CommandLine.Run("git", sources, new Dictionary<string, string>(), "symbolic-ref", "HEAD", "refs/heads/another-branch");
        CommandLine.Run("git", sources, new Dictionary<string, string>(), "update-ref", "HEAD", library.Commit);
        string output = library.Folder("packed elsewhere");

        // With a compiler of its own, which has this environment.
        Dictionary<string, string> environment =
            new() { ["TZ"] = "Asia/Tokyo", ["DOTNET_CLI_UI_LANGUAGE"] = "de", ["UseSharedCompilation"] = "false" };
        library.Pack(sources, output, environment);

        string[] packages = Directory.GetFiles(library.Feed);
        Assert.Equal(7, packages.Length); // Four packages, and the symbols of the three that have an assembly.
        foreach (string package in packages)
        {
            string other = Path.Combine(output, Path.GetFileName(package));

            // First by entry, so that a failure names what differs.
            Assert.Equal(Entries(package), Entries(other));
            Assert.True(
                File.ReadAllBytes(package).AsSpan().SequenceEqual(File.ReadAllBytes(other)), $"{Path.GetFileName(package)} differs.");
        }
    }

    private static string[] Entries(string package)
    {
        using ZipArchive archive = ZipFile.OpenRead(package);
        return [.. archive.Entries.Select(entry => $"{entry.FullName}: {entry.Length} bytes, {entry.Crc32:x8}, "
            + $"{entry.LastWriteTime.DateTime:s}")];
    }
}
