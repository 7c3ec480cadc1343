using Allocator.Tests.Documentation;

namespace Allocator.PackageTests;

/// <summary>A new program that has the package for SkiaSharp.</summary>
[Collection(nameof(PackedLibrary))]
public class SkiaPackageTests(PackedLibrary library)
{
    /// <summary>What a newcomer types: a new project, the lines of the guide that add packages, and its first example.</summary>
    [Fact]
    public void NewConsoleProject_WithThePackagesAdded_MakesAThumbnail()
    {
        CodeBlock example = CodeBlock.All().First(block => block.Document == "docs/integrations/skiasharp.md");
        string folder = library.Folder("NewSkia");
        library.Dotnet(folder, "new", "console", "--no-restore");
        string[] packages = [.. File.ReadLines(Path.Combine(library.Sources, "docs", "integrations", "skiasharp.md"))
            .Where(static line => line.StartsWith("    dotnet add package ", StringComparison.Ordinal))
            .Select(static line => line.Split(' ', StringSplitOptions.RemoveEmptyEntries)[3])];
        Assert.Equal("Allocator.SkiaSharp", packages[0]);
        library.Dotnet(folder, "add", "package", packages[0], "--version", library.Version, "--source", library.Feed);
        foreach (string package in packages.Skip(1))
        {
            library.Dotnet(folder, "add", "package", package);
        }

        File.WriteAllText(Path.Combine(folder, "Program.cs"), example.Code);
        File.Copy(Photograph, Path.Combine(folder, "photo.jpg"));

        string printed = library.Dotnet(folder, "run");

        Assert.Equal("1600 x 1200, 400 x 300", printed.Trim());
        Assert.InRange(new FileInfo(Path.Combine(folder, "thumbnail.jpg")).Length, 2_000, 200_000);
        Assert.InRange(example.Code.Split('\n').Count(line => line.EndsWith(';')), 1, 10);
    }

    private string Photograph => Path.Combine(
        library.Sources, "tests", "Allocator.SkiaSharp.Tests", "Pictures", "progressive-420.jpg");
}
